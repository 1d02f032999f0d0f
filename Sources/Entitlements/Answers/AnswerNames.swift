/// Gives the numbers of an answer their names.
package protocol AnswerNames {
    /// `STORE/ORIGINAL_ID`, or `erased/NUMBER`.
    func purchaseName(_ number: UInt64) throws -> String
    /// The id of the grant that was given at a sequence.
    func grantID(givenAt sequence: UInt64) throws -> String
}

extension AccessSource {
    /// The source as answers name it: `STORE/ORIGINAL_ID`, `grant/ID` or `trial/ID`.
    package func name(_ names: some AnswerNames) throws -> String {
        switch self {
        case .purchase(let number): try names.purchaseName(number)
        case .grant(let sequence): try "grant/" + names.grantID(givenAt: sequence)
        case .trial(let id): "trial/" + id
        }
    }
}
