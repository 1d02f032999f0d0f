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
    public init?(_ text: String) { self.init(text, from: 0) }

    /// Reads what stands from a byte of a text on.
    init?(_ text: String, from start: Int) {
        guard let slash = text.slash(from: start) else { return nil }
        let (store, originalID) = (text.part(start..<slash), text.part(from: slash + 1))
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
        guard let slash = text.slash(from: 0) else { return nil }
        switch text.part(0..<slash) {
        case "purchase":
            guard let name = PurchaseName(text, from: slash + 1) else { return nil }
            self = .purchase(name)
        case "customer":
            guard let id = CustomerID(text.part(from: slash + 1)) else { return nil }
            self = .customer(id)
        case "store":
            let store = text.part(from: slash + 1)
            guard Identifier.isStore(store) else { return nil }
            self = .store(store)
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

extension String {
    /// Where the first `/` stands from a byte on.
    fileprivate func slash(from start: Int) -> Int? {
        let bytes = utf8Span.span
        for index in start..<bytes.count where bytes[index] == UInt8(ascii: "/") { return index }
        return nil
    }

    /// The text of some bytes, which end before and after characters.
    fileprivate func part(_ range: Range<Int>) -> String {
        let start = utf8.index(startIndex, offsetBy: range.lowerBound)
        return String(self[start..<utf8.index(start, offsetBy: range.count)])
    }

    /// The text from a byte on, before which a character ends.
    fileprivate func part(from start: Int) -> String { part(start..<utf8.count) }
}

/// The shape of ids (Model, "Events").
public enum Identifier {
    /// Bytes of UTF-8 that an id may have at most.
    public static let byteLimit = 1024
    /// Bytes that a store's name may have at most.
    public static let storeByteLimit = 64

    /// Whether a text is an id: 1 to 1024 bytes without control characters.
    public static func isValid(_ text: String) -> Bool {
        let bytes = text.utf8Span.span
        guard (1...byteLimit).contains(bytes.count) else { return false }
        for index in bytes.indices {
            switch bytes[index] {
            case 0..<0x20, 0x7F: return false
            // U+0080 to U+009F; another byte follows always.
            case 0xC2 where bytes[index + 1] < 0xA0: return false
            default: continue
            }
        }
        return true
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
