/// Names that somebody may have meant who typed another one.
public enum NearNames {
    /// Names that are given back, at most.
    public static let limit = 3
    /// Longer names are not compared.
    static let lengthLimit = 64

    /// The nearest of some names: those that begin alike or differ by some letters, nearest first.
    ///
    /// Cost: O(names × their length × the text's), both lengths at most 64.
    public static func of(_ text: String, among names: some Sequence<String>) -> [String] {
        let letters = Array(text.lowercased())
        guard letters.count <= lengthLimit else { return [] }
        let found = Set(names).compactMap { name -> (distance: Int, name: String)? in
            let other = Array(name.lowercased())
            guard other.count <= lengthLimit else { return nil }
            let isPrefix =
                !letters.isEmpty && (other.starts(with: letters) || letters.starts(with: other))
            let distance = isPrefix ? 1 : distance(letters, other)
            let tolerance = max(1, min(letters.count, other.count) / 3)
            return distance <= tolerance ? (distance, name) : nil
        }
        return found.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }
            .prefix(limit).map(\.name)
    }

    /// The letters to change, insert or delete (Levenshtein).
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (line, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, other) in right.enumerated() {
                let change = diagonal + (letter == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(change, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
