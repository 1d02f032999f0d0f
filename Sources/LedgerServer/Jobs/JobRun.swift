import Entitlements

/// What came of a job's run.
enum JobRun: Sendable, Hashable {
    /// It did what it is there for, whatever it found.
    case done
    /// It could not do all of it; `notBefore`: when whoever was asked wants to be asked again, nil: they do not
    /// say; `gotOn`: whether the next run goes on behind where this one began.
    case failed(notBefore: Instant? = nil, gotOn: Bool = false)
    /// Somebody else does it now: it comes again after a while.
    case postponed(Duration)
    /// The server stops.
    case ended

    /// A run that could not do all, by when each of those whose part is missing wants to be asked again.
    ///
    /// `next`: when the others are to be asked again: one that wants to be left alone for long holds up
    /// nobody else; nil: there are no others.
    static func failed(heldUntil holds: [Instant?], others next: Instant?) -> JobRun {
        // One that does not say when is asked as soon as a job that failed comes again.
        guard holds.allSatisfy({ $0 != nil }) else { return .failed() }
        return .failed(notBefore: (holds + [next]).compactMap(\.self).min())
    }
}
