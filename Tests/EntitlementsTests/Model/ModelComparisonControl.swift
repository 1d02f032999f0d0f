import Entitlements
import ModelSupport
import Testing

/// The negative control of `ModelComparison`, and run with it by name.
@Suite struct ModelComparisonControl {
    @Test func `a fold that lacks one event is told from the model`() {
        var found = 0
        for seed: UInt64 in 0..<40 {
            let history = RandomHistory(seed: seed)
            for question in history.questions where question.prefix > 0 {
                let log = Array(history.log.prefix(question.prefix))
                let model = SlowModel(log: log).show(
                    customer: question.customer.text,
                    environment: question.environment,
                    at: question.at
                )
                // The first events are catalogs; the others are purchases and requests.
                let isFound = log.indices.suffix(8).contains { index in
                    var lacking = log
                    lacking.remove(at: index)
                    let fast = fastShow(
                        log: lacking,
                        customer: question.customer.text,
                        environment: question.environment,
                        at: question.at
                    )
                    return fast != nil && fast != model
                }
                if isFound { found += 1 }
            }
        }
        #expect(found > 40)
    }
}
