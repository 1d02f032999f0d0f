import Encodings
import Entitlements

/// What several schemas share: `common.schema.json`.
package enum CommonShape: String, CaseIterable, Sendable {
    case identifier, name, code, freeText, store, purchaseName, sourceName, environment
    case productKind, eventInstant, instant, sequence, digest, token

    /// What it is, where its name does not say it.
    var about: String? {
        switch self {
        case .identifier: "1 to 1024 bytes without control characters"
        case .name: "An id of the catalog: 1 to 256 bytes without control characters"
        case .code: "A word of programs: letters, digits and ._:/+-, 1 to 64 of them"
        case .freeText: "At most 8192 bytes; holds no ids"
        case .store: "Lower snake case, at most 64 bytes"
        case .purchaseName: "STORE/ORIGINAL_ID"
        case .sourceName:
            "STORE/ORIGINAL_ID, grant/ID or trial/ID; erased/NUMBER where the name is erased"
        case .environment, .productKind: nil
        case .eventInstant:
            "RFC 3339 with an offset, 0 to 9 fraction digits (cut to milliseconds), in 2000 to "
                + "2200 (the end exclusive); lower-case t and z are read too"
        case .instant: "RFC 3339 in UTC with three fraction digits"
        case .sequence: "A place in the log, or a number of records"
        case .digest: "32 bytes in base64"
        case .token: "A decision token: what asks the same question again and proves the answer"
        }
    }

    /// The JSON Schema.
    var schema: JSONValue {
        switch self {
        case .identifier: Shape.text(upTo: Identifier.byteLimit)
        case .name: Shape.text(upTo: FieldShape.nameByteLimit)
        case .code: Self.text("^[A-Za-z0-9\(Code.signs)]{1,\(Code.byteLimit)}$")
        case .freeText:
            .members(["type": "string", "maxLength": .integer(FieldShape.textByteLimit)])
        case .store: Self.text("^\(Self.storePattern)$")
        case .purchaseName: Self.text("^\(Self.purchasePattern)$")
        case .sourceName: Self.text("^[a-z][a-z0-9_]*/.+")
        case .environment: Shape.words(StoreEnvironment.allCases.map(\.name))
        case .productKind: Shape.words(ProductKind.allCases.map(\.name))
        case .eventInstant:
            Self.instant(
                "^(1999-12-31|2[01][0-9]{2}-[0-9]{2}-[0-9]{2}|2200-01-01)"
                    + "[Tt][0-9]{2}:[0-9]{2}:[0-5][0-9](\\.[0-9]{1,9})?"
                    + "([Zz]|[+-][0-9]{2}:[0-9]{2})$"
            )
        case .instant:
            Self.instant(
                "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"
            )
        case .sequence: .members(["type": "integer", "minimum": .integer(0)])
        case .digest: Self.text("^[A-Za-z0-9+/]{43}=$")
        case .token: Self.text("^[A-Za-z0-9_-]{40,2048}$")
        }
    }

    /// What an identifier is as a part of a regular expression.
    static let identifierPattern =
        "[^\\u0000-\\u001f\\u007f-\\u009f]{1,\(Identifier.byteLimit)}"
    /// What a store's name is as a part of a regular expression.
    static let storePattern = "[a-z][a-z0-9_]{0,\(Identifier.storeByteLimit - 1)}"
    /// What a purchase's name is as a part of a regular expression.
    static let purchasePattern = storePattern + "/" + identifierPattern

    private static func text(_ pattern: String) -> JSONValue {
        .members(["type": "string", "pattern": .string(pattern)])
    }

    private static func instant(_ pattern: String) -> JSONValue {
        .members(["type": "string", "format": "date-time", "pattern": .string(pattern)])
    }
}
