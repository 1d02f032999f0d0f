import Encodings
import ModelSupport

/// A way from outside into the ledger.
protocol FuzzTarget: Sendable {
    /// Inputs to begin with: valid ones, of every kind.
    func seeds() -> [[UInt8]]

    /// Tries one input: whatever it is, what must hold holds.
    func run(_ input: [UInt8])

    /// Another input, made of one that was worth keeping.
    func mutated(
        _ input: [UInt8],
        upTo limit: Int,
        using generator: inout SplitMix64
    ) -> [UInt8]
}

/// Makes inputs of a kind.
protocol InputMutation: Sendable {
    /// Another input, made of one.
    func mutated(
        _ input: [UInt8],
        upTo limit: Int,
        using generator: inout SplitMix64
    ) -> [UInt8]
}

/// A target whose inputs are all of one kind.
protocol MutatingFuzzTarget: FuzzTarget {
    associatedtype Mutation: InputMutation
    var mutation: Mutation { get }
}

extension MutatingFuzzTarget {
    func mutated(
        _ input: [UInt8],
        upTo limit: Int,
        using generator: inout SplitMix64
    ) -> [UInt8] {
        mutation.mutated(input, upTo: limit, using: &generator)
    }
}

/// Stops the process, which libFuzzer then reports with the input, unless a law holds.
func demand(_ holds: Bool, _ law: @autoclosure () -> String) {
    // Unlike a precondition's, this message is printed in an optimized build too.
    if !holds { fatalError("does not hold: \(law())") }
}

/// A fault that is there only for the control: a run that does not find it would not find a real
/// one either.
enum PlantedFault {
    private static let isThere = Fuzz.environment["FUZZ_PLANTED_FAULT"] != nil

    /// Stops the process in a state that few inputs lead to.
    static func strike(_ isReached: @autoclosure () -> Bool) {
        if isThere, isReached() { fatalError("planted fault") }
    }
}
