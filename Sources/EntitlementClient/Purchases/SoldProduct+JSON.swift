import Encodings
import Entitlements

/// A product as JSON: as it is kept, and as the store simulator tells it.
extension SoldProduct {
    var json: JSONValue {
        .members([
            "id": .string(id), "name": .string(name), "price": .string(price),
            "asOf": .instant(asOf),
        ])
    }

    /// Reads one; nil: it is none.
    init?(json: JSONValue) {
        guard let id = json["id"]?.string, let name = json["name"]?.string,
            let price = json["price"]?.string
        else { return nil }
        self.init(id: id, name: name, price: price)
        asOf = json["asOf"]?.string.flatMap { Instant(rfc3339: $0) }
    }
}
