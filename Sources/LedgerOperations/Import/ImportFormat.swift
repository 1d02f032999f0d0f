import Entitlements
import Stores

/// What an import reads.
public enum ImportFormat: String, Sendable, CaseIterable {
    /// Each line by what it looks like.
    case auto
    /// CloudEvents.
    case events
    /// Bodies of RevenueCat's webhooks, answers of its API, rows of its exports.
    case revenuecat
    /// What the App Store signs.
    case appStore = "app-store"
    /// Pushes of Google Play's notifications, its signed purchase data, answers of its API.
    case play

    /// One thing that a line hands in.
    struct Item {
        var line: Int
        /// What the line was taken for; nil: it could not be told.
        var format: ImportFormat?
        var result: ImportResult<Submission>
        /// The `recordedtime` that the line carries.
        var recordedAt: Instant?
        /// Whether the `recordedtime` that the line carries is no instant.
        var hasUnreadableRecordedTime = false
        /// What was read; nil where it was too long to be kept.
        var bytes: [UInt8]?
    }
}

extension ImportFormat.Item {
    /// The item, refused if the `recordedtime` that is to be kept is no instant.
    func withReadableRecordedTime() -> ImportFormat.Item {
        guard hasUnreadableRecordedTime, result.value != nil else { return self }
        let refusal = ImportRefusal("invalid_value", "recordedtime", "expected an instant")
        return ImportFormat.Item(
            line: line,
            format: format,
            result: .refused(refusal),
            bytes: bytes
        )
    }

    /// The item as an element of an array: why it is refused says at which place.
    func inside(_ index: Int) -> ImportFormat.Item {
        guard case .refused(var refusal) = result else { return self }
        refusal.path = "[\(index)]" + (refusal.path.isEmpty ? "" : "." + refusal.path)
        var item = self
        item.result = .refused(refusal)
        return item
    }
}

/// What a line hands in, or why it is not taken.
enum ImportResult<Value: Sendable>: Sendable {
    case taken(Value)
    case refused(ImportRefusal)

    /// What it hands in; nil: it is not taken.
    var value: Value? {
        guard case .taken(let value) = self else { return nil }
        return value
    }
}

/// Why an item was not appended.
public struct ImportRefusal: Sendable, Equatable {
    /// A word of a closed set.
    public var code: String
    /// The member that is wrong; empty: the whole.
    public var path: String
    /// A sentence.
    public var detail: String

    init(_ code: String, _ path: String, _ detail: String) {
        self.code = code
        self.path = path
        self.detail = detail
    }
}
