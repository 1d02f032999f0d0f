import LMDBStorage

/// A small file that stands in a ledger's directory beside log and vault, such as that of keys.
package enum SmallFile {
    /// Changes one: changes of one file come one after the other, whoever makes them.
    ///
    /// The body reads the file as it is and returns its new bytes.
    ///
    /// - Throws: `LedgerOpenFault` where there is no ledger or another process is at it, `FileFault`, and
    ///   what the body throws: then nothing is changed.
    package static func change(
        _ name: String,
        ofLedgerAt path: String,
        _ body: () throws -> [UInt8]
    ) throws {
        try LedgerDirectory.change(name, at: path, body)
    }
}
