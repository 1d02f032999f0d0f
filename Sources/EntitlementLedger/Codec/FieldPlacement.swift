import Entitlements

/// Where a field's value stands in a record (Storage, "A record"; law 6).
enum FieldPlacement {
    /// In clear among the facts: ids of the catalog, numbers, instants, choices.
    case clear
    /// As a tag among the facts, and whole in the sealed part: ids that a rule compares.
    case tagged
    /// Only in the sealed part: free text.
    case sealed
    /// As the number of another stream; its name stands in the vault alone.
    case stream
}

extension Field {
    var placement: FieldPlacement {
        switch self {
        case .transactionID, .grantID, .useID, .flowID: .tagged
        case .reason, .differences, .detail, .actor: .sealed
        case .alias, .purchase, .from, .erased, .account: .stream
        default: .clear
        }
    }
}

/// Marks in a record's facts and sealed part beside the fields; fields end below them.
enum RecordMark {
    /// The store in the subject's name: a purchase's product ids are matched within it (K9).
    static let store: UInt8 = 200
    /// The source, where it has no code of its own.
    static let source: UInt8 = 201
    /// The event's id; in clear only in the catalog's stream, which names nobody.
    static let id: UInt8 = 202
}

/// The codes of sources in a record's header.
enum SourceCode {
    private static let names = [
        Source.appStore, Source.playStore, Source.revenueCat, Source.app, Source.support,
        Source.catalog, Source.ledger,
    ]
    /// The source's text stands in the record.
    static let other: UInt8 = 255

    static func code(of source: String) -> UInt8 {
        names.firstIndex(of: source).map { UInt8($0 + 1) } ?? other
    }

    static func name(of code: UInt8) -> String? {
        (1...names.count).contains(Int(code)) ? names[Int(code) - 1] : nil
    }
}
