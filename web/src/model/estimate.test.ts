// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { addEstimate, bytesInterval, makeEstimates, objectsInterval } from "./estimate.ts";
import { gammaP, gammaQuantile, normalTail } from "./gamma.ts";

// Printed by src/profile/estimate/estimate.cc and gamma.cc.
const kIntervals = [
  { n: 0, size: 100, bytes: [0, 377741.2561], objects: [0, 15739.219] },
  { n: 1, size: 24, bytes: [2602.309019, 570553.0954], objects: [108.4295425, 23773.04564] },
  { n: 3, size: 80, bytes: [63473.02675, 897913.8378], objects: [793.4128344, 11223.92297] },
  { n: 4, size: 1040, bytes: [113708.7915, 1051212.284], objects: [109.3353764, 1010.781042] },
  { n: 10, size: 16384, bytes: [576313.1083, 1973684.315], objects: [35.17536061, 120.4641306] },
  { n: 48, size: 1048600, bytes: [50332800, 50857100.31], objects: [48, 48.50000029] },
  { n: 250, size: 131072, bytes: [42530627.66, 48643891.14], objects: [324.4829381, 371.123437] },
  { n: 5000, size: 200, bytes: [498403310, 526889896.8], objects: [2492016.55, 2634449.484] },
  { n: 900000, size: 64, bytes: [9.19980499e10, 9.237895261e10], objects: [1437469530, 1443421134] },
] as const;
const kAllBytes = [9.260764584e10, 9.298965479e10] as const;
const kAllObjects = [1440042683, 1445993488] as const;
// 40 samples of 9,000 bytes, 12 of 40,000 and 2 of 600: small objects may hide.
const kMixed = { bytes: [4599638.506, 7662058.63], objects: [551.5806517, 17561.41374], onLoh: [533.0765087, 1521.765818] } as const;
// 40 samples of 9,000 bytes, others of whose type have other sizes.
const kManySizes = { bytes: [3109324.832, 5763902.261], objects: [359.9551907, 17169.47181] } as const;
const kQuantiles = [
  [0.05, 5.31566188984e-33, 0.567173761753],
  [0.5, 0.000491034558588, 2.51194309366],
  [1, 0.0253178079843, 3.68887945411],
  [3, 0.618672122896, 7.22468766772],
  [50, 37.1109637375, 64.7805985929],
  [1999, 1912.32062637, 2087.57361136],
  [19999, 19722.7745302, 20277.1197688],
  [20001, 19724.7606711, 20279.1336279],
  [500000, 498615.043572, 501386.850734],
  [2e6, 1997229.13961, 2002772.75469],
] as const;

// EstimateSampled of src/profile/estimate/estimate.cc, for the test alone.
function sampled(n: number, size: number) {
  const p = -Math.expm1(size * Math.log1p(-1 / 102400));
  const e = makeEstimates(1);
  e.samples[0] = n;
  e.seenObjects[0] = n;
  e.seenBytes[0] = n * size;
  e.objects[0] = n / p;
  e.bytes[0] = (n * size) / p;
  e.varObjects[0] = (n * (1 - p)) / (p * p);
  e.varBytes[0] = e.varObjects[0]! * size * size;
  e.maxObjects[0] = n === 0 ? 0 : (1 - p) / p;
  e.maxBytes[0] = e.maxObjects[0]! * size;
  return e;
}

function near(got: number, wanted: number, tolerance: number, what: string) {
  const limit = Math.abs(wanted) * tolerance + 1e-9;
  assert.ok(Math.abs(got - wanted) <= limit, `${what}: ${got} is not ${wanted}`);
}

test("gamma quantiles are those of the C++ side", () => {
  for (const [shape, low, high] of kQuantiles) {
    near(gammaQuantile(0.025, shape), low, 1e-7, `low of ${shape}`);
    near(gammaQuantile(0.975, shape), high, 1e-7, `high of ${shape}`);
  }
});

test("other tails, and the normal one, are those of the C++ side", () => {
  near(gammaQuantile(0.041, 3), 0.753711139545, 1e-9, "shape 3");
  near(gammaQuantile(0.041, 50), 38.4032448014, 1e-9, "shape 50");
  near(gammaQuantile(0.041, 500_000), 498770.876745, 1e-7, "shape 500,000");
  near(normalTail(2.5), 0.00620966532578, 1e-9, "normal");
});

test("P(shape, x) has the exponential distribution as its case of shape 1", () => {
  for (const x of [0.01, 0.5, 1, 3, 20]) near(gammaP(1, x), 1 - Math.exp(-x), 1e-12, `P(1, ${x})`);
});

test("intervals are those of the C++ side", () => {
  const all = makeEstimates(1);
  for (const row of kIntervals) {
    const e = sampled(row.n, row.size);
    const bytes = bytesInterval(e, 0);
    const objects = objectsInterval(e, 0);
    near(bytes.low, row.bytes[0], 1e-6, `bytes low of ${row.n}`);
    near(bytes.high, row.bytes[1], 1e-6, `bytes high of ${row.n}`);
    near(objects.low, row.objects[0], 1e-6, `objects low of ${row.n}`);
    near(objects.high, row.objects[1], 1e-6, `objects high of ${row.n}`);
    addEstimate(all, 0, e, 0);
  }
  near(bytesInterval(all, 0).low, kAllBytes[0], 1e-6, "sum, bytes low");
  near(bytesInterval(all, 0).high, kAllBytes[1], 1e-6, "sum, bytes high");
  near(objectsInterval(all, 0).low, kAllObjects[0], 1e-6, "sum, objects low");
  near(objectsInterval(all, 0).high, kAllObjects[1], 1e-6, "sum, objects high");
  const mixed = sampled(40, 9_000);
  addEstimate(mixed, 0, sampled(12, 40_000), 0);
  addEstimate(mixed, 0, sampled(2, 600), 0);
  near(bytesInterval(mixed, 0).low, kMixed.bytes[0], 1e-6, "mixed, bytes low");
  near(bytesInterval(mixed, 0).high, kMixed.bytes[1], 1e-6, "mixed, bytes high");
  near(objectsInterval(mixed, 0).low, kMixed.objects[0], 1e-6, "mixed, objects low");
  near(objectsInterval(mixed, 0).high, kMixed.objects[1], 1e-6, "mixed, objects high");
  near(objectsInterval(mixed, 0, 1).low, kMixed.onLoh[0], 1e-6, "mixed, on the LOH, low");
  near(objectsInterval(mixed, 0, 1).high, kMixed.onLoh[1], 1e-6, "mixed, on the LOH, high");
  const many = sampled(30, 9_000);
  const rest = sampled(10, 9_000);
  rest.manySizes[0] = 1;
  addEstimate(many, 0, rest, 0);
  near(bytesInterval(many, 0).low, kManySizes.bytes[0], 1e-6, "many sizes, bytes low");
  near(bytesInterval(many, 0).high, kManySizes.bytes[1], 1e-6, "many sizes, bytes high");
  near(objectsInterval(many, 0).low, kManySizes.objects[0], 1e-6, "many sizes, objects low");
  near(objectsInterval(many, 0).high, kManySizes.objects[1], 1e-6, "many sizes, objects high");
});
