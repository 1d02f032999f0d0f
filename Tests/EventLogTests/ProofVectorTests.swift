import Encodings
import EventLog
import Foundation
import Testing

// row Z4: the vectors of github.com/transparency-dev/merkle, good and mutated

@Suite(.enabled(if: Vectors.arePresent, Vectors.absence))
struct ProofVectorTests {
    private struct Inclusion: Decodable {
        var leafIdx: UInt64
        var treeSize: UInt64
        var root: Data?
        var leafHash: Data?
        var proof: [Data]?
        var wantErr: Bool

        var holds: Bool {
            guard let root = digest(root), let leafHash = digest(leafHash),
                let hashes = digests(proof)
            else { return false }
            return InclusionProof(leaf: leafIdx, size: treeSize, hashes: hashes)
                .holds(leafHash: leafHash, root: root)
        }
    }

    private struct Consistency: Decodable {
        var size1: UInt64
        var size2: UInt64
        var root1: Data?
        var root2: Data?
        var proof: [Data]?
        var wantErr: Bool

        var holds: Bool {
            guard let root1 = digest(root1), let root2 = digest(root2), let hashes = digests(proof)
            else { return false }
            return ConsistencyProof(from: size1, to: size2, hashes: hashes)
                .holds(oldRoot: root1, newRoot: root2)
        }
    }

    /// Compares two roots that are not hashes; ours have 32 bytes, so the row cannot be put to us.
    private static let notHashes = "additional/sizes-are-equal-one-and-proof-is-empty.json"

    @Test func `an inclusion proof is refused exactly where it is wrong`() throws {
        let folder = "transparency-dev-merkle/testdata/inclusion"
        let files = try Vectors.files(below: folder)
        #expect(files.count == 98)
        for file in files {
            let vector: Inclusion = try Vectors.json("\(folder)/\(file)")
            #expect(vector.holds == !vector.wantErr, "\(file)")
        }
    }

    @Test func `a consistency proof is refused exactly where it is wrong`() throws {
        let folder = "transparency-dev-merkle/testdata/consistency"
        let files = try Vectors.files(below: folder)
        #expect(files.count == 98)
        for file in files where file != Self.notHashes {
            let vector: Consistency = try Vectors.json("\(folder)/\(file)")
            #expect(vector.holds == !vector.wantErr, "\(file)")
        }
    }
}

private func digest(_ data: Data?) -> Digest? {
    Digest(exactly: Array(data ?? Data()).span)
}

private func digests(_ list: [Data]?) -> [Digest]? {
    let digests = (list ?? []).compactMap { digest($0) }
    return digests.count == list?.count ?? 0 ? digests : nil
}
