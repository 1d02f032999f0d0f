import Foundation
import Testing

/// Faults that only a sanitizer sees: the controls of `tools/sanitize`, which sets
/// `ENTITLE_PLANTED`.
struct `A fault planted for a sanitizer` {
    private static let planted = ProcessInfo.processInfo.environment["ENTITLE_PLANTED"]

    @Test(.enabled(if: planted == "thread", "a control of tools/sanitize"))
    func `two threads write one place`() {
        let place = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        unsafe place.initialize(to: 0)
        nonisolated(unsafe) let shared = unsafe place
        let ended = DispatchSemaphore(value: 0)
        for number in 0..<2 {
            Thread {
                for turn in 0..<1000 { unsafe shared.pointee = number + turn }
                ended.signal()
            }.start()
        }
        for _ in 0..<2 { ended.wait() }
        #expect(unsafe place.pointee >= 0)
        unsafe place.deallocate()
    }

    @Test(.enabled(if: planted == "address", "a control of tools/sanitize"))
    func `a read goes past the end`() {
        #expect(byte(at: 16) != .max)
    }

    /// A function by itself, so that the read is made whatever becomes of it.
    @inline(never)
    private func byte(at place: Int) -> UInt8 {
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 16)
        unsafe bytes.initialize(repeating: 1, count: 16)
        defer { unsafe bytes.deallocate() }
        return unsafe bytes[place]
    }
}
