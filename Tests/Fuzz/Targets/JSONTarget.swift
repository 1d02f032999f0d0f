import Encodings
import Entitlements
import ModelSupport

/// Any JSON text.
struct JSONTarget: FuzzTarget {
    private static let texts = [
        #"{"a":[1,-0.5e+3,true,false,null],"b":{"c":"\"\\\/\b\f\n\r\t\u00e9\ud834\udd1e"}}"#,
        " [ {} , [ ] , \"\" , 0 ] ", "\"é€\u{1F600}\"", "-12.5E-7", "null",
        #"[[[[[[[[{"deep":[[[[]]]]}]]]]]]]]"#,
        "{" + (0..<20).map { #""m\#($0)":\#($0)"# }.joined(separator: ",") + "}",
    ]
    private let mutation = JSONMutation(
        wordsOf: texts.compactMap { try? JSONValue(parsing: Array($0.utf8)) }
    )

    func seeds() -> [[UInt8]] { Self.texts.map { Array($0.utf8) } }

    func mutated(
        _ input: [UInt8],
        upTo limit: Int,
        using generator: inout SplitMix64
    ) -> [UInt8] {
        generator.chance(50)
            ? LibFuzzer.mutated(input, upTo: limit)
            : mutation.mutated(input, upTo: limit, using: &generator)
    }

    func run(_ input: [UInt8]) {
        let value: JSONValue
        do throws(JSONFault) {
            value = try JSONValue(parsing: input)
        } catch {
            demand((0...input.count).contains(error.offset), "a fault stands in the text")
            PlantedFault.strike(error.message == "lone surrogate" && input.first == 0x5B)
            return
        }
        let text = Array(value.description.utf8)
        do throws(JSONFault) {
            let again = try JSONValue(parsing: text)
            demand(again == value, "a value's text is read as the value")
            demand(again.description.utf8.elementsEqual(text), "a value's text is one")
        } catch {
            fatalError("does not hold: a value's text is JSON: \(error)")
        }
    }
}
