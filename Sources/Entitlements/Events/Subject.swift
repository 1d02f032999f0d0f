public import Encodings

/// What names a purchase for life: a store and its original id, `STORE/ORIGINAL_ID`.
public struct PurchaseName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Lower snake case, such as `app_store`.
    public var store: String
    /// The store's id, whole, slashes included.
    @Bytewise public var originalID: String

    /// Makes a name of two parts that are valid already.
    public init(store: String, originalID: String) {
        self.store = store
        self.originalID = originalID
    }

    /// Reads `STORE/ORIGINAL_ID`; nil if a part is not valid.
    public init?(_ text: String) {
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let store = String(text[..<slash])
        let originalID = String(text[text.utf8.index(after: slash)...])
        guard Identifier.isStore(store), Identifier.isValid(originalID) else { return nil }
        self.init(store: store, originalID: originalID)
    }

    /// `STORE/ORIGINAL_ID`.
    public var description: String { store + "/" + originalID }

    /// Orders by the bytes of the text.
    public static func < (left: PurchaseName, right: PurchaseName) -> Bool {
        left.description.precedes(right.description)
    }
}

/// Whom or what an event speaks about.
public enum Subject: Hashable, Sendable {
    case purchase(PurchaseName)
    case customer(CustomerID)
    case store(String)
    case catalog

    /// Reads `purchase/STORE/ID`, `customer/ID`, `store/STORE` or `catalog`; nil otherwise.
    public init?(_ text: String) {
        if text == "catalog" {
            self = .catalog
            return
        }
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let rest = String(text[text.utf8.index(after: slash)...])
        switch text[..<slash] {
        case "purchase":
            guard let name = PurchaseName(rest) else { return nil }
            self = .purchase(name)
        case "customer":
            guard let id = CustomerID(rest) else { return nil }
            self = .customer(id)
        case "store" where Identifier.isStore(rest): self = .store(rest)
        default: return nil
        }
    }

    /// The kind of subject.
    public var kind: Kind {
        switch self {
        case .purchase: .purchase
        case .customer: .customer
        case .store: .store
        case .catalog: .catalog
        }
    }

    /// The kinds of subject.
    public enum Kind: String, Sendable {
        case purchase, customer, store, catalog
    }
}

extension Subject: CustomStringConvertible {
    /// The text form that `init(_:)` reads.
    public var description: String {
        switch self {
        case .purchase(let name): "purchase/" + name.description
        case .customer(let id): "customer/" + id.text
        case .store(let store): "store/" + store
        case .catalog: "catalog"
        }
    }
}

/// The shape of ids (Model, "Events").
public enum Identifier {
    /// Bytes of UTF-8 that an id may have at most.
    public static let byteLimit = 1024
    /// Bytes that a store's name may have at most.
    public static let storeByteLimit = 64

    /// Whether a text is an id: 1 to 1024 bytes without control characters.
    public static func isValid(_ text: String) -> Bool {
        let bytes = text.utf8
        guard (1...byteLimit).contains(bytes.count) else { return false }
        return text.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
        }
    }

    /// Whether a text is a store's name: lower snake case.
    public static func isStore(_ text: String) -> Bool {
        guard let first = text.utf8.first, (0x61...0x7A).contains(first),
            text.utf8.count <= storeByteLimit
        else { return false }
        return text.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
        }
    }
}
