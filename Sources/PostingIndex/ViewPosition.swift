package import EventLog

/// How far views have followed the log, tied to it by root hash: what does not match is discarded.
package struct ViewPosition: Equatable {
    /// The ledger's 16 random bytes.
    package var ledgerID: [UInt8]
    /// Records that the views hold.
    package var treeSize: UInt64
    /// The log's root at that size.
    package var root: EventLog.Digest
    /// The machine's boot id while views were being written; empty after a clean close.
    ///
    /// Views are never synced, so another boot means that they may be damaged.
    package var bootID: String

    package var encoded: [UInt8] {
        var writer = ByteWriter(reservingCapacity: 128)
        writer.append(ledgerID.span)
        writer.append(treeSize)
        writer.append(root)
        writer.append(bootID)
        return writer.bytes
    }

    package init(ledgerID: [UInt8], treeSize: UInt64, root: EventLog.Digest, bootID: String) {
        self.ledgerID = ledgerID
        self.treeSize = treeSize
        self.root = root
        self.bootID = bootID
    }

    package init(decoding bytes: Span<UInt8>) throws(DecodingFault) {
        guard bytes.count >= 56 else {
            throw DecodingFault(what: "not a view position", offset: 0)
        }
        var cursor = ByteCursor(position: 56)
        ledgerID = bytes.copy(0..<16)
        treeSize = bytes.uint64(at: 16)
        root = EventLog.Digest(bytes, at: 24)
        bootID = try cursor.string(bytes)
        try cursor.finish(bytes)
    }
}
