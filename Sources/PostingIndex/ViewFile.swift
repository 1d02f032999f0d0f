import DurableFiles
package import EventLog

/// A file of the views: what cannot be read of it discards them, what cannot be written is storage's.
package struct ViewFile: Sendable {
    private let file: BlockFile

    private init(_ file: BlockFile) { self.file = file }

    /// Makes an empty file, in place of one that stands there.
    static func create(_ path: String) throws(LogStorageFault) -> ViewFile {
        ViewFile(try writing { () throws(FileFault) in try BlockFile.create(path) })
    }

    /// Makes a temporary file that has no name and goes with its last user.
    static func createUnnamed() throws(LogStorageFault) -> ViewFile {
        ViewFile(
            try writing { () throws(FileFault) in try BlockFile.createUnnamed("entitle-views") }
        )
    }

    /// Opens a file to be read.
    ///
    /// - Throws: `ViewDamage` if it cannot be opened.
    static func open(_ path: String) throws(ViewDamage) -> ViewFile {
        guard let file = BlockFile.open(path) else {
            throw ViewDamage("a file of the views is missing")
        }
        return ViewFile(file)
    }

    /// The whole content of a file, if it has at most so many bytes.
    ///
    /// - Throws: `ViewDamage` if it cannot be read.
    package static func content(_ path: String, limit: Int) throws(ViewDamage) -> [UInt8] {
        let file = try open(path)
        let count = file.count
        guard count <= limit else { throw ViewDamage("a file of the views is too long") }
        return try file.read(at: 0, count: count)
    }

    /// Bytes of the file; 0 if nobody can tell.
    var count: Int { file.count }

    /// Reads bytes at a place.
    ///
    /// - Throws: `ViewDamage` if they are not all there.
    func read(at offset: Int, count: Int) throws(ViewDamage) -> [UInt8] {
        guard let bytes = file.read(at: offset, count: count) else {
            throw ViewDamage("a file of the views ends too early")
        }
        return bytes
    }

    /// Writes bytes behind those that were written.
    func append(_ bytes: Span<UInt8>) throws(LogStorageFault) {
        do {
            try file.append(bytes)
        } catch {
            throw LogStorageFault(writingViews: error)
        }
    }

    /// Waits until the file is on the disk.
    func sync() throws(LogStorageFault) {
        try Self.writing { () throws(FileFault) in try file.sync() }
    }

    /// Puts a whole small file in place of another one, at once.
    ///
    /// `isDurable`: whether it, and the names in its directory, are on the disk then.
    package static func replace(
        _ path: String,
        with content: [UInt8],
        isDurable: Bool
    ) throws(LogStorageFault) {
        do {
            try DurableFile.replace(path, with: content, isSynced: isDurable)
        } catch let fault as FileFault {
            throw LogStorageFault(writingViews: fault)
        } catch {
            throw LogStorageFault(.unreadable, "the views cannot be written")
        }
    }

    private static func writing<Result>(
        _ body: () throws(FileFault) -> Result
    ) throws(LogStorageFault) -> Result {
        do {
            return try body()
        } catch {
            throw LogStorageFault(writingViews: error)
        }
    }
}

/// Bytes of the views that are not what was written, or cannot be read: the views are discarded.
package struct ViewDamage: Error {
    /// A sentence for people; holds no path and no id.
    package var what: String

    init(_ what: String) { self.what = what }
}

extension LogStorageFault {
    /// A file of the views that cannot be written.
    fileprivate init(writingViews fault: FileFault) {
        self.init(
            fault.isFullDisk ? .full : .unreadable,
            "the views cannot be written (error \(fault.code))"
        )
    }
}
