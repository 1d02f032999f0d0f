import DurableFiles
import Foundation

/// The socket of a ledger's directory, on which the server that holds the ledger answers commands.
///
/// Its folder is its owner's alone: whoever reaches it could read the files too.
package enum LedgerSocket {
    private static let folderName = "socket"
    private static let name = "server.sock"
    /// Bytes of a path that every system's socket addresses hold: 104 with the end, at least.
    package static let pathByteCounts = 1...103

    /// Where it stands; nil: the path is too long for a socket.
    package static func path(ofLedgerAt path: String) -> String? {
        let socket = path + "/" + folderName + "/" + name
        return pathByteCounts.contains(socket.utf8.count) ? socket : nil
    }

    /// Where it stands, if something stands there.
    package static func existing(ofLedgerAt path: String) -> String? {
        guard let socket = Self.path(ofLedgerAt: path),
            FileManager.default.fileExists(atPath: socket)
        else { return nil }
        return socket
    }

    /// Makes its folder.
    ///
    /// - Returns: where the socket stands; nil: the path is too long for one.
    package static func prepare(ofLedgerAt path: String) throws -> String? {
        guard let socket = Self.path(ofLedgerAt: path) else { return nil }
        let folder = path + "/" + folderName
        try DurableFile.makeFolder(folder)
        try DurableFile.closeFolder(folder)
        return socket
    }
}
