// Unsafe: LMDB tells of its readers line by line, in texts that live as long as the call that lends
// them, and of its pages in a local structure.

internal import CLMDB
internal import Synchronization

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

    /// Pages that commits add to the file before they look for dead readers again.
    private static let pagesBetweenLooks = 256

    /// Gives back the slots of readers that were killed, where the file has grown: as long as they are
    /// taken, the pages that commits have freed since are not used again.
    ///
    /// Only for who is inside the gate.
    ///
    /// Cost: a look at the file's last page; a system call for each process that reads where the file
    /// is so many pages longer than it was.
    func clearDeadReaders() {
        var info = unsafe MDB_envinfo()
        // Fails only for a null environment.
        guard unsafe mdb_env_info(pointer, &info) == MDB_SUCCESS else { return }
        let last = unsafe info.me_last_pgno
        guard last >= pageOfNextLook.load(ordering: .relaxed) else { return }
        pageOfNextLook.store(last + Self.pagesBetweenLooks, ordering: .relaxed)
        // What was committed stands, whatever comes of it; slots that stay are met by the next look.
        _ = unsafe mdb_reader_check(pointer, nil)
    }
}
