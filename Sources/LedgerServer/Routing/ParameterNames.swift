import Entitlements
import LedgerAPI

/// What stands in a path, as the templates of routes name it.
enum PathName: String, Sendable {
    case feature
    case grantID = "grantId"
    /// The customer.
    case id
    /// A file that pages load.
    case file
    case key, level, place, purchase, sequence, size, token, transaction, webhook
}

/// What stood in a path, by its names: few, so that none is hashed.
struct PathValues: Sendable {
    private var values: [(name: PathName, value: String)] = []

    /// What stands there; nil: the route has no such place.
    subscript(name: PathName) -> String? { values.first { $0.name == name }?.value }

    /// The customer whom the path names; nil: nobody, or by what is no id.
    var customer: CustomerID? { self[.id].flatMap { CustomerID($0) } }

    /// Adds a segment, behind those that the name has already.
    mutating func add(_ value: String, as name: PathName) {
        if let index = values.firstIndex(where: { $0.name == name }) {
            values[index].value += "/" + value
        } else {
            values.append((name, value))
        }
    }
}

/// The parameters of queries, as routes name them.
enum QueryName: String, Sendable {
    case at, known, knownSequence, environment
    case dryRun = "dry-run"
    case after, against, all, baselineWindows, customer, effective, event, everybody, feature,
        format, from, limit, locale, minimumCount, onError, preserveRecordedTime, purchase, raw,
        record, redact, sample, samples, score, scope, since, source, state, store, storefront,
        thresholds, ticket, to, toAt, token, type, until, windowMinutes
    case before, code, key, lang, next
    case atDay, knownDay, toKnown, toKnownSequence, told, done
    /// For whom sentences are.
    case audience = "for"
    /// What is searched for.
    case search = "q"

    /// What the command calls its option of the same meaning.
    var option: String {
        rawValue.reduce(into: "") { text, letter in
            text += letter.isUppercase ? "-" + letter.lowercased() : String(letter)
        }
    }
}

extension Query {
    /// A parameter's value; nil: it was not sent.
    subscript(name: QueryName) -> String? { self[name.rawValue] }
}
