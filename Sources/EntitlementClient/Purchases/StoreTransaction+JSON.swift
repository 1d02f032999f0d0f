import Encodings
import Entitlements

/// A transaction as JSON: in the queue's file, and as the store simulator tells it.
extension StoreTransaction {
    var json: JSONValue {
        .members([
            "id": .string(id), "originalId": .string(originalID),
            "productId": .string(productID), "expiresAt": .instant(expiresAt),
            "signed": .string(signed), "appAccountToken": .optional(account?.text),
            "nonRenewingSince": .instant(nonRenewingSince),
        ])
    }

    /// Reads one; nil: it is none.
    init?(json: JSONValue) {
        guard let id = json["id"]?.string, let originalID = json["originalId"]?.string,
            let productID = json["productId"]?.string, let signed = json["signed"]?.string
        else { return nil }
        self.init(
            id: id,
            originalID: originalID,
            productID: productID,
            expiresAt: json["expiresAt"]?.string.flatMap { Instant(rfc3339: $0) },
            signed: signed,
            account: json["appAccountToken"]?.string.flatMap { CustomerID(appAccountToken: $0) },
            nonRenewingSince: json["nonRenewingSince"]?.string.flatMap { Instant(rfc3339: $0) }
        )
    }
}
