import Encodings
import Entitlements
import Foundation

extension CustomerID {
    /// The `appAccountToken` of the customer's purchases; nil: the id is no UUID in lower case.
    ///
    /// A ledger reads a token as lower-case text (Stores, rule 7), and ids are bytes: of an id in upper case
    /// it would name somebody who does not exist, whose purchase nobody could claim.
    var appAccountToken: UUID? {
        UUID(uuidString: text).flatMap { $0.uuidString.lowercased().isSame(as: text) ? $0 : nil }
    }

    /// The customer whom an `appAccountToken` names; nil: it is no UUID, or names nobody.
    init?(appAccountToken text: String) {
        guard let id = UUID(uuidString: text)?.uuidString.lowercased(), !id.isSame(as: Self.nobody)
        else { return nil }
        self.init(id)
    }

    /// The UUID of all zeros (RFC 9562, section 5.9).
    private static let nobody = "00000000-0000-0000-0000-000000000000"
}
