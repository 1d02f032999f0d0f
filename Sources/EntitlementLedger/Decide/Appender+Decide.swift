extension Appender {
    /// How often a decision that nobody can overtake is made: what it hands in at once may rely on
    /// one another, one of them stands each time.
    static let decisionLimit = restoreLimit

    /// Makes a decision against the log as it stands (E4) and appends by it.
    ///
    /// `attempt`: hands sealed submissions to the function that it is given; nil: others were
    /// faster, it is to be made again. The second time nobody else appends meanwhile, so that it
    /// is never overtaken twice, however many decide about the same customer.
    func decide<Outcome>(
        _ attempt: (LogWriter.Append) throws -> Outcome?
    ) throws -> Outcome {
        if let outcome = try attempt(writer.append) { return outcome }
        return try writer.alone { try decideAlone($0, attempt) }
    }

    /// Makes a decision as often as it takes while nobody else appends.
    func decideAlone<Outcome>(
        _ append: LogWriter.Append,
        _ attempt: (LogWriter.Append) throws -> Outcome?
    ) throws -> Outcome {
        for _ in 0..<Self.decisionLimit {
            if let outcome = try attempt(append) { return outcome }
        }
        throw LedgerFault(.contended, "a decision did not come to stand: try again")
    }
}
