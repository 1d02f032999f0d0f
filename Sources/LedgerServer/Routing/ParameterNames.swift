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

/// The parameters of queries, as routes name them.
enum QueryName: String, Sendable {
    case at, known, knownSequence, environment
    case dryRun = "dry-run"
    case after, against, all, customer, effective, event, everybody, feature, format, from, limit,
        locale,
        onError,
        preserveRecordedTime, purchase, raw, record, redact, sample, samples, score, scope, since,
        source, state, store, storefront, thresholds, ticket, to, toAt, token, type, until
    case before, code, key, lang, next
    case atDay, knownDay, toKnown, toKnownSequence, told, done
    /// For whom sentences are.
    case audience = "for"
    /// What is searched for.
    case search = "q"
}

extension Query {
    /// A parameter's value; nil: it was not sent.
    subscript(name: QueryName) -> String? { self[name.rawValue] }
}
