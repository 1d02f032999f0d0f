/// What a process does to a ledger while it holds the writer's lock, other than writing to it.
///
/// It stands in the lock's file, so that whoever is locked out learns why (row 8.4).
package enum Recovery: String, CaseIterable, Sendable {
    /// The ledger is being opened: where its views do not match the log, they are made anew.
    case opening
    /// The views are being made anew.
    case rebuild

    /// What stands in the lock's file.
    var mark: [UInt8] { Array(rawValue.utf8) }

    /// Reads what stands in the lock's file; nil for anything else.
    init?(mark: [UInt8]) { self.init(rawValue: String(decoding: mark, as: UTF8.self)) }

    /// What whoever is locked out is told.
    var message: String {
        switch self {
        case .opening: "another process opens it, and makes its views anew where they are in doubt"
        case .rebuild: "its views are being rebuilt, and nothing is written meanwhile"
        }
    }
}
