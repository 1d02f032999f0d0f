/// Where an archive's files stand: a directory, or anything else that keeps files by path.
public protocol ArchiveStore: Sendable {
    /// The whole content of a file, or nil where there is none.
    ///
    /// - Throws: `ArchiveFault.tooLong` for one of more bytes than `limit`; whatever the files'
    ///   keeper throws.
    func read(_ path: String, limit: Int) throws -> [UInt8]?

    /// Whether there is a file; its content is not looked at.
    func exists(_ path: String) throws -> Bool

    /// The names in a folder, files and folders alike, in any order; none where there is no folder.
    func names(in folder: String) throws -> [String]

    /// Writes files durably: when this returns all of them stand, and at no time does one stand in
    /// part under its path.
    func write(_ files: [ArchiveFile]) throws

    /// Removes a file, or a folder of files; does nothing where there is none.
    func remove(_ path: String) throws
}

/// A file of an archive.
public struct ArchiveFile: Sendable, Equatable {
    /// Where, below the archive's own place.
    public var path: String
    /// All of it.
    public var bytes: [UInt8]

    /// Makes a file.
    public init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
    }
}

/// Why an archive cannot be used.
public struct ArchiveFault: Error, Sendable, Equatable {
    /// What kind of fault.
    public var code: Code
    /// A sentence without paths of the machine and without ids.
    public var message: String
    /// The sequence of the first record concerned, if it is about records.
    public var sequence: UInt64?

    /// The closed set of faults.
    public enum Code: String, Sendable {
        /// There is no archive.
        case missing
        /// It holds another history than the log: neither is a prefix of the other.
        case forked
        /// A file is missing, or is not what the tree says.
        case damaged
        /// A file has more bytes than one of its kind may have.
        case tooLong = "too_long"
        /// Its checkpoint is not signed by the log's key.
        case notSigned = "not_signed"
        /// Another process writes to it.
        case locked
    }

    /// Makes a fault.
    public init(_ code: Code, _ message: String, sequence: UInt64? = nil) {
        self.code = code
        self.message = message
        self.sequence = sequence
    }
}
