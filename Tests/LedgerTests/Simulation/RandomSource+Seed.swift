import EventLog
import ModelSupport

extension RandomSource {
    /// Words that a seed determines.
    init(seed: UInt64) {
        let generator = SeededWords(seed)
        self.init { generator.next() }
    }
}
