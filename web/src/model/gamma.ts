// SPDX-License-Identifier: Apache-2.0
// The gamma distribution's quantiles, as src/profile/estimate/gamma.cc computes them.

// Above this shape Wilson–Hilferty is right to eight digits at the tails that are asked for.
const kLargeShape = 20_000;
const kEpsilon = 1e-14;

// ln Γ(x) for x > 0: Stirling's series, reached by the recurrence for small x.
export function logGamma(x: number): number {
  let shift = 0;
  while (x < 12) {
    shift -= Math.log(x);
    x++;
  }
  const r = 1 / (x * x);
  const series = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r / 1188)))) / x;
  return shift + (x - 0.5) * Math.log(x) - x + 0.9189385332046727 + series;
}

// Regularized lower incomplete gamma function P(shape, x).
export function gammaP(shape: number, x: number): number {
  if (x <= 0) return 0;
  const front = Math.exp(-x + shape * Math.log(x) - logGamma(shape));
  if (x < shape + 1) {
    let term = 1 / shape;
    let sum = term;
    for (let i = 1; i < 10_000 && term > sum * kEpsilon; i++) {
      term *= x / (shape + i);
      sum += term;
    }
    return sum * front;
  }
  // Lentz's continued fraction for the upper function.
  let b = x + 1 - shape;
  let c = 1e300;
  let d = 1 / b;
  let h = d;
  for (let i = 1; i < 10_000; i++) {
    const an = -i * (i - shape);
    b += 2;
    d = an * d + b;
    if (Math.abs(d) < 1e-300) d = 1e-300;
    c = b + an / c;
    if (Math.abs(c) < 1e-300) c = 1e-300;
    d = 1 / d;
    const delta = d * c;
    h *= delta;
    if (Math.abs(delta - 1) < kEpsilon) break;
  }
  return 1 - h * front;
}

// The chance that a standard normal variable is above z >= 0.
export function normalTail(z: number): number {
  return (1 - gammaP(0.5, (z * z) / 2)) / 2;
}

// Of the standard normal law: Abramowitz & Stegun 26.2.23, then Newton's steps.
function normalQuantile(p: number): number {
  const tail = Math.min(p, 1 - p);
  const t = Math.sqrt(-2 * Math.log(tail));
  let z =
    t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (let i = 0; i < 3; i++) z += (normalTail(z) - tail) * Math.sqrt(2 * Math.PI) * Math.exp((z * z) / 2);
  return p < 0.5 ? -z : z;
}

// x with P(shape, x) = p.
export function gammaQuantile(p: number, shape: number): number {
  const z = normalQuantile(p);
  const t = 1 / (9 * shape);
  const start = shape * (1 - t + z * Math.sqrt(t)) ** 3;
  if (shape > kLargeShape) return start;
  let low = 0;
  let high = Math.max(start * 2, shape * 2, 10);
  while (gammaP(shape, high) < p) high *= 2;
  let x = start > 0 && start < high ? start : high / 2;
  for (let i = 0; i < 200 && high - low > 1e-12 * high; i++) {
    const error = gammaP(shape, x) - p;
    if (Math.abs(error) < 1e-12) break;
    if (error > 0) high = x;
    else low = x;
    const density = Math.exp((shape - 1) * Math.log(x) - x - logGamma(shape));
    const next = density > 0 ? x - error / density : low;
    x = next > low && next < high ? next : (low + high) / 2;
  }
  return x;
}
