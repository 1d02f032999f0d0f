import FoundationEssentials
import ModelSupport

/// The way to libFuzzer and back: the only file here that handles lent memory
/// (llvm.org/docs/LibFuzzer.html).
enum LibFuzzer {
    /// Runs libFuzzer with the arguments of this process.
    ///
    /// - Returns: The status to exit with.
    static func run() -> CInt {
        var count = CommandLine.argc
        var arguments = unsafe CommandLine.unsafeArgv
        return unsafe runDriver(&count, &arguments, tryInput)
    }

    /// One of libFuzzer's own changes to some bytes, of at most `limit` bytes.
    static func mutated(_ bytes: [UInt8], upTo limit: Int) -> [UInt8] {
        guard limit > 0 else { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let kept = min(bytes.count, limit)
            unsafe buffer.initialize(repeating: 0)
            for index in 0..<kept { unsafe buffer[index] = bytes[index] }
            guard let start = buffer.baseAddress else { return }
            count = unsafe mutate(start, kept, limit)
        }
    }
}

private typealias Trial = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<Arguments>,
    _ trial: Trial
) -> CInt

@_silgen_name("LLVMFuzzerMutate")
private func mutate(
    _ bytes: UnsafeMutablePointer<UInt8>,
    _ count: Int,
    _ limit: Int
) -> Int

private func tryInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    Fuzz.target.run(input)
    return 0
}

/// How an input is changed; libFuzzer finds it by its name.
@_cdecl("LLVMFuzzerCustomMutator")
public func changeInput(
    _ start: UnsafeMutablePointer<UInt8>,
    _ count: Int,
    _ limit: Int,
    _ seed: CUnsignedInt
) -> Int {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    var generator = SplitMix64(seed: UInt64(seed))
    let changed = Fuzz.target.mutated(input, upTo: limit, using: &generator).prefix(limit)
    for (index, byte) in changed.enumerated() { unsafe start[index] = byte }
    return changed.count
}
