import DurableFiles

extension LedgerDirectory {
    /// What somebody confirmed of the clock, for a log of one size (T3).
    private static let acceptedClockName = "accepted-clock"

    /// Notes that it is a time, in milliseconds since 1970, while the log has so many events.
    ///
    /// - Throws: `FileFault`.
    package static func accept(clock: Int64, size: UInt64, at path: String) throws {
        try DurableFile.replace(
            path + "/" + acceptedClockName,
            with: Array("\(size) \(clock)\n".utf8)
        )
    }

    /// What was noted; nil for nothing, or nothing that can be read.
    package static func acceptedClock(at path: String) -> (size: UInt64, clock: Int64)? {
        // What cannot be read confirms nothing: the clock is asked about again.
        guard let bytes = try? DurableFile.read(path + "/" + acceptedClockName) else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        guard words.count == 2, let size = UInt64(words[0]), let clock = Int64(words[1]) else {
            return nil
        }
        return (size, clock)
    }
}
