// Unsafe: LMDB tells of its readers line by line, in texts that live as long as the call that lends
// them.

internal import CLMDB

extension Environment {
    /// The reader slots that are taken, in all processes.
    struct ReaderSlots {
        /// Those that are idle count.
        var count = 0
        /// The commit whose state the oldest one looks at; nil: nobody looks.
        var oldest: Int?

        /// Takes a line: process, thread and commit, or a hyphen for one that is idle.
        fileprivate mutating func take(_ line: String) {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count == 3, Int(words[0]) != nil else { return }
            count += 1
            guard let commit = Int(words[2]) else { return }
            oldest = min(oldest ?? commit, commit)
        }
    }

    /// Reads the lines of `mdb_reader_list`: `me_numreaders` is only the highest slot ever used.
    func readerSlots() -> ReaderSlots {
        var readers = ReaderSlots()
        _ = unsafe withUnsafeMutablePointer(to: &readers) { readers in
            unsafe mdb_reader_list(
                pointer,
                { line, context in
                    guard let line = unsafe line else { return 0 }
                    unsafe context?.assumingMemoryBound(to: ReaderSlots.self).pointee
                        .take(String(cString: line))
                    return 0
                },
                readers
            )
        }
        return readers
    }
}
