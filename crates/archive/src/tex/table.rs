//! The characters of TeX commands. Only data, and lookups.

/// Marks, by the sign after the backslash.
const SIGNS: [(u8, char); 7] = [
    (b'`', '\u{300}'),
    (b'\'', '\u{301}'),
    (b'^', '\u{302}'),
    (b'~', '\u{303}'),
    (b'=', '\u{304}'),
    (b'.', '\u{307}'),
    (b'"', '\u{308}'),
];

/// Marks, by the letter after the backslash.
const LETTERS: [(&str, char); 8] = [
    ("u", '\u{306}'),
    ("r", '\u{30a}'),
    ("H", '\u{30b}'),
    ("v", '\u{30c}'),
    ("d", '\u{323}'),
    ("c", '\u{327}'),
    ("k", '\u{328}'),
    ("b", '\u{331}'),
];

/// The mark that spans two letters.
pub(super) const TIE: char = '\u{361}';

/// Letters that Unicode has in combination with a mark: for each mark, pairs of the letter alone and the letter with
/// it. Letters that already have a mark come last; of two marks, either may have been written first.
const COMPOSED: [(char, &str); 15] = [
    ('\u{300}', "AÀEÈIÌNǸOÒUÙWẀYỲaàeèiìnǹoòuùwẁyỳÂẦÊỀÔỒÜǛâầêềôồüǜĂẰăằĒḔēḕŌṐōṑ"),
    (
        '\u{301}',
        "AÁCĆEÉGǴIÍKḰLĹMḾNŃOÓPṔRŔSŚUÚWẂYÝZŹaácćeégǵiíkḱlĺmḿnńoópṕrŕsśuúwẃyýzźÂẤÅǺÆǼÇḈÊẾÏḮÔỐÕṌØǾÜǗâấåǻæǽçḉêếïḯôốõṍøǿüǘĂẮăắĒḖēḗŌṒōṓŨṸũṹ",
    ),
    ('\u{302}', "AÂCĈEÊGĜHĤIÎJĴOÔSŜUÛWŴYŶZẐaâcĉeêgĝhĥiîjĵoôsŝuûwŵyŷzẑẠẬạậẸỆẹệỌỘọộ"),
    ('\u{303}', "AÃEẼIĨNÑOÕUŨVṼYỸaãeẽiĩnñoõuũvṽyỹÂẪÊỄÔỖâẫêễôỗĂẴăẵ"),
    ('\u{304}', "AĀEĒGḠIĪOŌUŪYȲaāeēgḡiīoōuūyȳÄǞÆǢÕȬÖȪÜǕäǟæǣõȭöȫüǖǪǬǫǭȦǠȧǡȮȰȯȱḶḸḷḹṚṜṛṝ"),
    ('\u{307}', "AȦBḂCĊDḊEĖFḞGĠHḢIİMṀNṄOȮPṖRṘSṠTṪWẆXẊYẎZŻaȧbḃcċdḋeėfḟgġhḣmṁnṅoȯpṗrṙsṡtṫwẇxẋyẏzżŚṤśṥŠṦšṧṢṨṣṩ"),
    ('\u{308}', "AÄEËHḦIÏOÖUÜWẄXẌYŸaäeëhḧiïoötẗuüwẅxẍyÿÕṎõṏŪṺūṻ"),
    ('\u{306}', "AĂEĔGĞIĬOŎUŬaăeĕgğiĭoŏuŭȨḜȩḝẠẶạặ"),
    ('\u{30a}', "AÅUŮaåuůwẘyẙ"),
    ('\u{30b}', "OŐUŰoőuű"),
    ('\u{30c}', "AǍCČDĎEĚGǦHȞIǏKǨLĽNŇOǑRŘSŠTŤUǓZŽaǎcčdďeěgǧhȟiǐjǰkǩlľnňoǒrřsštťuǔzžÜǙüǚ"),
    ('\u{323}', "AẠBḄDḌEẸHḤIỊKḲLḶMṂNṆOỌRṚSṢTṬUỤVṾWẈYỴZẒaạbḅdḍeẹhḥiịkḳlḷmṃnṇoọrṛsṣtṭuụvṿwẉyỵzẓÂẬÊỆÔỘâậêệôộĂẶăặṠṨṡṩ"),
    ('\u{327}', "CÇDḐEȨGĢHḨKĶLĻNŅRŖSŞTŢcçdḑeȩgģhḩkķlļnņrŗsştţĆḈćḉĔḜĕḝ"),
    ('\u{328}', "AĄEĘIĮOǪUŲaąeęiįoǫuųŌǬōǭ"),
    ('\u{331}', "BḆDḎKḴLḺNṈRṞTṮZẔbḇdḏhẖkḵlḻnṉrṟtṯzẕ"),
];

/// Letters and symbols, by the name of the command, in byte order. `\phi` and `\varphi` are as TeX draws them, which
/// differs from Unicode's names.
const SYMBOLS: &[(&str, char)] = &[
    ("AA", 'Å'),
    ("AE", 'Æ'),
    ("DH", 'Ð'),
    ("DJ", 'Đ'),
    ("Delta", 'Δ'),
    ("ETH", 'Ð'),
    ("Gamma", 'Γ'),
    ("L", 'Ł'),
    ("Lambda", 'Λ'),
    ("NG", 'Ŋ'),
    ("O", 'Ø'),
    ("OE", 'Œ'),
    ("Omega", 'Ω'),
    ("P", '¶'),
    ("Phi", 'Φ'),
    ("Pi", 'Π'),
    ("Psi", 'Ψ'),
    ("S", '§'),
    ("Sigma", 'Σ'),
    ("TH", 'Þ'),
    ("Theta", 'Θ'),
    ("Upsilon", 'Υ'),
    ("Xi", 'Ξ'),
    ("aa", 'å'),
    ("ae", 'æ'),
    ("alpha", 'α'),
    ("approx", '≈'),
    ("beta", 'β'),
    ("cdot", '·'),
    ("chi", 'χ'),
    ("copyright", '©'),
    ("dag", '†'),
    ("ddag", '‡'),
    ("deg", '°'),
    ("degree", '°'),
    ("delta", 'δ'),
    ("dh", 'ð'),
    ("div", '÷'),
    ("dj", 'đ'),
    ("dots", '…'),
    ("ell", 'ℓ'),
    ("epsilon", 'ε'),
    ("equiv", '≡'),
    ("eta", 'η'),
    ("eth", 'ð'),
    ("euro", '€'),
    ("gamma", 'γ'),
    ("ge", '≥'),
    ("geq", '≥'),
    ("gtrsim", '≳'),
    ("guillemotleft", '«'),
    ("guillemotright", '»'),
    ("hbar", 'ℏ'),
    ("i", 'ı'),
    ("infty", '∞'),
    ("iota", 'ι'),
    ("j", 'ȷ'),
    ("kappa", 'κ'),
    ("l", 'ł'),
    ("lambda", 'λ'),
    ("ldots", '…'),
    ("le", '≤'),
    ("leq", '≤'),
    ("lesssim", '≲'),
    ("mu", 'μ'),
    ("nabla", '∇'),
    ("ne", '≠'),
    ("neq", '≠'),
    ("ng", 'ŋ'),
    ("nu", 'ν'),
    ("o", 'ø'),
    ("odot", '⊙'),
    ("oe", 'œ'),
    ("omega", 'ω'),
    ("omicron", 'ο'),
    ("otimes", '⊗'),
    ("partial", '∂'),
    ("phi", 'ϕ'),
    ("pi", 'π'),
    ("pm", '±'),
    ("pounds", '£'),
    ("propto", '∝'),
    ("psi", 'ψ'),
    ("rho", 'ρ'),
    ("rightarrow", '→'),
    ("sigma", 'σ'),
    ("sim", '∼'),
    ("simeq", '≃'),
    ("ss", 'ß'),
    ("tau", 'τ'),
    ("textbullet", '•'),
    ("textdegree", '°'),
    ("textemdash", '—'),
    ("textendash", '–'),
    ("texteuro", '€'),
    ("textquotedblleft", '“'),
    ("textquotedblright", '”'),
    ("textquoteleft", '‘'),
    ("textquoteright", '’'),
    ("textregistered", '®'),
    ("texttrademark", '™'),
    ("th", 'þ'),
    ("theta", 'θ'),
    ("times", '×'),
    ("to", '→'),
    ("upsilon", 'υ'),
    ("varepsilon", 'ε'),
    ("varphi", 'φ'),
    ("varpi", 'ϖ'),
    ("varrho", 'ϱ'),
    ("varsigma", 'ς'),
    ("vartheta", 'ϑ'),
    ("xi", 'ξ'),
    ("zeta", 'ζ'),
];

/// Returns the mark of `\'` and similar commands.
pub(super) fn sign_accent(sign: u8) -> Option<char> {
    SIGNS.iter().find(|(known, _)| *known == sign).map(|(_, mark)| *mark)
}

/// Returns the mark of `\c` and similar commands.
pub(super) fn letter_accent(name: &str) -> Option<char> {
    LETTERS.iter().find(|(known, _)| *known == name).map(|(_, mark)| *mark)
}

/// Returns the letter with the mark, if it is one character.
pub(super) fn composed(mark: char, letter: char) -> Option<char> {
    let (_, pairs) = COMPOSED.iter().find(|(known, _)| *known == mark)?;
    let mut characters = pairs.chars();
    while let (Some(alone), Some(composed)) = (characters.next(), characters.next()) {
        if alone == letter {
            return Some(composed);
        }
    }
    None
}

/// Returns the character of a command whose name is a sign: signs with a meaning in TeX, escaped. Braces are not
/// converted, because they could be mistaken for those of a group.
pub(super) fn sign(sign: u8) -> Option<char> {
    b"&%_#$".contains(&sign).then_some(char::from(sign))
}

/// Returns the character of a command.
pub(super) fn symbol(name: &str) -> Option<char> {
    SYMBOLS.binary_search_by(|(known, _)| (*known).cmp(name)).ok().map(|at| SYMBOLS[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_as_they_are_used() {
        assert!(SYMBOLS.is_sorted_by(|one, other| one.0 < other.0));
        for (name, character) in SYMBOLS {
            assert!(!character.is_ascii() && character.len_utf8() <= name.len() + 1, "{name}");
        }
        for (mark, pairs) in COMPOSED {
            let characters: Vec<char> = pairs.chars().collect();
            for pair in characters.chunks(2) {
                assert!(pair[0].is_alphabetic() && !pair[1].is_ascii(), "{mark:?} {pair:?}");
            }
        }
        for (_, mark) in SIGNS.iter().map(|(_, mark)| ((), mark)).chain(LETTERS.iter().map(|(_, mark)| ((), mark))) {
            assert!(COMPOSED.iter().any(|(known, _)| known == mark));
        }
    }
}
