// SPDX-License-Identifier: Apache-2.0
// Prints what System.Reflection.Metadata reads of an assembly and its PDB, a line a fact. What
// tests/golden/symbols_text.cc prints of the same files must be equal.
//   Oracle ASSEMBLY [PDB]
using System.Collections.Immutable;
using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using System.Text;

var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)) { NewLine = "\n" };
using var pe = new PEReader(File.OpenRead(args[0]));
MetadataReader md = pe.GetMetadataReader();
Image();
Types();
if (args.Length > 1)
    Pdb(MetadataReaderProvider.FromPortablePdbStream(File.OpenRead(args[1])).GetMetadataReader());
else if (pe.ReadDebugDirectory().FirstOrDefault(e => e.Type == DebugDirectoryEntryType.EmbeddedPortablePdb) is { DataSize: > 0 } e)
    Pdb(pe.ReadEmbeddedPortablePdbDebugDirectoryData(e).GetMetadataReader());
output.Flush();

static string Hex(byte[] bytes) => Convert.ToHexString(bytes).ToLowerInvariant();
static string Digest(byte[] bytes) => bytes.Length + ":" + bytes.Aggregate(0xcbf29ce484222325, (hash, b) => (hash ^ b) * 0x100000001b3).ToString("x");
string Token(EntityHandle handle) => handle.IsNil ? "0" : MetadataTokens.GetToken(handle).ToString("x");

void Image()
{
    output.WriteLine($"module {md.GetString(md.GetModuleDefinition().Name)} {md.GetGuid(md.GetModuleDefinition().Mvid)}");
    if (md.IsAssembly)
    {
        AssemblyDefinition a = md.GetAssemblyDefinition();
        output.WriteLine($"assembly {md.GetString(a.Name)} {a.Version} {Hex(md.GetBlobBytes(a.PublicKey))}");
    }
    foreach (AssemblyReferenceHandle h in md.AssemblyReferences)
    {
        AssemblyReference a = md.GetAssemblyReference(h);
        output.WriteLine($"reference {md.GetString(a.Name)} {a.Version} {Hex(md.GetBlobBytes(a.PublicKeyOrToken))}");
    }
    for (int t = 0; t < 0x2d; t++)
        if (md.GetTableRowCount((TableIndex)t) is > 0 and int n)
            output.WriteLine($"table {t:x} {n} {md.GetTableRowSize((TableIndex)t)}");
    foreach (DebugDirectoryEntry e in pe.ReadDebugDirectory())
    {
        if (e.Type == DebugDirectoryEntryType.CodeView)
        {
            CodeViewDebugDirectoryData c = pe.ReadCodeViewDebugDirectoryData(e);
            output.WriteLine($"codeview {c.Guid} {e.Stamp:x} {c.Age} {(e.IsPortableCodeView ? "portable" : "windows")} {c.Path}");
        }
        else if (e.Type == DebugDirectoryEntryType.PdbChecksum)
        {
            PdbChecksumDebugDirectoryData c = pe.ReadPdbChecksumDebugDirectoryData(e);
            output.WriteLine($"checksum {c.AlgorithmName} {Hex(c.Checksum.ToArray())}");
        }
    }
}

void Types()
{
    var names = new Names(md);
    foreach (TypeReferenceHandle h in md.TypeReferences)
        output.WriteLine($"typeref {Token(h)} {names.OfReference(h)} {Token(md.GetTypeReference(h).ResolutionScope)}");
    foreach (TypeDefinitionHandle h in md.TypeDefinitions)
    {
        TypeDefinition type = md.GetTypeDefinition(h);
        string parameters = string.Join(",", type.GetGenericParameters().Select(p => md.GetString(md.GetGenericParameter(p).Name)));
        output.WriteLine($"type {Token(h)} {names.OfDefinition(h)} {(int)type.Attributes:x} {Token(type.BaseType)} {Token(type.GetDeclaringType())} <{parameters}>");
        foreach (FieldDefinitionHandle f in type.GetFields())
        {
            FieldDefinition field = md.GetFieldDefinition(f);
            output.WriteLine($"field {Token(f)} {md.GetString(field.Name)} {(int)field.Attributes:x} {field.DecodeSignature(names, type)}");
        }
    }
    foreach (MethodDefinitionHandle h in md.MethodDefinitions)
    {
        MethodDefinition method = md.GetMethodDefinition(h);
        output.WriteLine($"method {Token(h)} {Token(method.GetDeclaringType())} {md.GetString(method.Name)} {(int)method.Attributes:x} {method.RelativeVirtualAddress:x} {method.GetGenericParameters().Count} {Digest(md.GetBlobBytes(method.Signature))}");
    }
}

void Pdb(MetadataReader pdb)
{
    output.WriteLine($"pdb {Hex(pdb.DebugMetadataHeader!.Id.ToArray())}");
    foreach (DocumentHandle h in pdb.Documents)
    {
        Document d = pdb.GetDocument(h);
        output.WriteLine($"document {Token(h)} {pdb.GetString(d.Name)} {pdb.GetGuid(d.Language)} {pdb.GetGuid(d.HashAlgorithm)} {Hex(pdb.GetBlobBytes(d.Hash))}");
    }
    foreach (MethodDebugInformationHandle h in pdb.MethodDebugInformation)
    {
        MethodDebugInformation info = pdb.GetMethodDebugInformation(h);
        MethodDefinitionHandle kickoff = info.GetStateMachineKickoffMethod();
        output.WriteLine($"points {MetadataTokens.GetRowNumber(h):x} kickoff {Token(kickoff)}");
        foreach (SequencePoint p in info.GetSequencePoints())
            output.WriteLine(p.IsHidden
                ? $"  {p.Offset:x} {Token(p.Document)} hidden"
                : $"  {p.Offset:x} {Token(p.Document)} {p.StartLine}:{p.StartColumn}-{p.EndLine}:{p.EndColumn}");
    }
    foreach (CustomDebugInformationHandle h in pdb.CustomDebugInformation)
    {
        CustomDebugInformation info = pdb.GetCustomDebugInformation(h);
        byte[] value = pdb.GetBlobBytes(info.Value);
        string kind = pdb.GetGuid(info.Kind).ToString();
        if (kind == "cc110556-a091-4d38-9fec-25ab9a351a6a")
            output.WriteLine($"sourcelink {Digest(value)}");
        else if (kind == "0e8a571b-6926-466e-b4ad-8ab04611f5fe")
            output.WriteLine($"source {Token(info.Parent)} {Digest(Unpack(value))}");
    }
}

static byte[] Unpack(byte[] value)
{
    if (BitConverter.ToInt32(value) == 0) return value[4..];
    var unpacked = new MemoryStream();
    using var deflate = new System.IO.Compression.DeflateStream(new MemoryStream(value, 4, value.Length - 4), System.IO.Compression.CompressionMode.Decompress);
    deflate.CopyTo(unpacked);
    return unpacked.ToArray();
}

// Types as the runtime's events write them.
sealed class Names(MetadataReader md) : ISignatureTypeProvider<string, TypeDefinition>
{
    static string Full(string scope, string name) => scope.Length == 0 ? name : scope + "." + name;
    public string OfDefinition(TypeDefinitionHandle h)
    {
        TypeDefinition type = md.GetTypeDefinition(h);
        string name = md.GetString(type.Name);
        return type.GetDeclaringType() is { IsNil: false } owner ? OfDefinition(owner) + "+" + name : Full(md.GetString(type.Namespace), name);
    }
    public string OfReference(TypeReferenceHandle h)
    {
        TypeReference type = md.GetTypeReference(h);
        string name = md.GetString(type.Name);
        return type.ResolutionScope.Kind == HandleKind.TypeReference ? OfReference((TypeReferenceHandle)type.ResolutionScope) + "+" + name : Full(md.GetString(type.Namespace), name);
    }
    public string GetTypeFromDefinition(MetadataReader r, TypeDefinitionHandle h, byte kind) => OfDefinition(h);
    public string GetTypeFromReference(MetadataReader r, TypeReferenceHandle h, byte kind) => OfReference(h);
    public string GetTypeFromSpecification(MetadataReader r, TypeDefinition owner, TypeSpecificationHandle h, byte kind) => r.GetTypeSpecification(h).DecodeSignature(this, owner);
    public string GetPrimitiveType(PrimitiveTypeCode code) => "System." + code;
    public string GetSZArrayType(string element) => element + "[]";
    public string GetArrayType(string element, ArrayShape shape) => element + "[" + (shape.Rank == 1 ? "*" : new string(',', shape.Rank - 1)) + "]";
    public string GetPointerType(string element) => element + "*";
    public string GetByReferenceType(string element) => element + "&";
    public string GetGenericInstantiation(string type, ImmutableArray<string> arguments) => type + "[" + string.Join(",", arguments) + "]";
    public string GetGenericTypeParameter(TypeDefinition owner, int index) => md.GetString(md.GetGenericParameter(owner.GetGenericParameters()[index]).Name);
    public string GetGenericMethodParameter(TypeDefinition owner, int index) => "TM" + index;
    public string GetModifiedType(string modifier, string type, bool required) => type;
    public string GetPinnedType(string type) => type;
    public string GetFunctionPointerType(MethodSignature<string> signature) => "delegate*";
}
