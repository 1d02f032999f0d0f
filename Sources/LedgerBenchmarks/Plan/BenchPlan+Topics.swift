extension BenchPlan {
    /// Measures topics, each beside its reference.
    ///
    /// - Throws: `OperationFault`, and what the ledgers that are measured throw.
    package func measure(_ topics: [BenchTopic]) throws -> BenchReport {
        let topics = Set(topics.contains(.all) ? BenchTopic.allCases : topics)
        var rows: [BenchRow] = []
        if topics.contains(.append) { rows += try AppendBench(plan: self).rows() }
        if topics.contains(.import) { rows += try ImportBench(plan: self).rows() }
        if topics.contains(.backfill) { rows += try BackfillBench(plan: self).rows() }
        if !topics.isDisjoint(with: WholeLogBench.topics) {
            rows += try WholeLogBench(plan: self, topics: topics).rows()
        }
        let questions = QuestionBench(plan: self)
        if topics.contains(.access) { rows += try questions.access() }
        if topics.contains(.state) {
            for steps in [12, 50] { rows += try questions.state(steps: steps) }
        }
        if topics.contains(.explain) {
            for steps in [12, 50] { rows += try ExplainBench(plan: self).rows(steps: steps) }
        }
        if topics.contains(.verify) { rows += try VerifyBench(plan: self).rows() }
        let proofs = ProofBench(plan: self)
        if topics.contains(.proofs) { rows += try proofs.proofs() }
        if topics.contains(.archive) { rows += try proofs.archive() }
        if topics.contains(.salvage) { rows += try SalvageBench(plan: self).rows() }
        if topics.contains(.memory) { rows += try MemoryBench(plan: self).rows() }
        return BenchReport(rows: rows)
    }
}
