//! No junk opens as a token or panics, every token opens to what was sealed, and none opens once it is altered.
//!
//! The input is read as a token, and also as the fields of one.

#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use modoai_protocol::token::ListToken;
use modoai_protocol::{Datestamp, ListVerb, MetadataPrefix, Range, SetSpec, Token, TokenKey};

fuzz_target!(|bytes: &[u8]| {
    let key = TokenKey::new([7; 32]);
    if let Ok(text) = std::str::from_utf8(bytes) {
        assert_eq!(Token::open(text, &key), None, "junk");
    }
    let Ok(token) = token(&mut Unstructured::new(bytes)) else { return };
    let sealed = token.seal(&key);
    assert_eq!(Token::open(&sealed, &key).as_ref(), Some(&token));
    assert_eq!(Token::open(&sealed, &TokenKey::new([8; 32])), None, "another key");

    let place = usize::from(bytes.first().copied().unwrap_or_default()) % sealed.len();
    let mut altered = sealed.into_bytes();
    altered[place] = if altered[place] == b'A' { b'B' } else { b'A' };
    let altered = String::from_utf8(altered).expect("tokens are ASCII");
    assert_eq!(Token::open(&altered, &key), None, "altered at {place}");
});

fn token(input: &mut Unstructured<'_>) -> Result<Token> {
    // Levels of any text become legal ones by escaping; short, because a token has a greatest length.
    let set = |input: &mut Unstructured<'_>| -> Result<SetSpec> {
        let level: String = input.arbitrary::<&str>()?.chars().take(40).collect();
        Ok(SetSpec::from_levels(["fuzz", &level]))
    };
    let moment = |input: &mut Unstructured<'_>| input.arbitrary().map(Datestamp::from_unix);
    if input.arbitrary()? {
        return Ok(Token::Sets { cursor: input.arbitrary()?, after: set(input)? });
    }
    Ok(Token::List(ListToken {
        verb: if input.arbitrary()? { ListVerb::Records } else { ListVerb::Identifiers },
        prefix: MetadataPrefix::parse("oai_dc").expect("legal"),
        range: Range { first: moment(input)?, last: moment(input)? },
        after: (moment(input)?, input.arbitrary()?),
        cursor: input.arbitrary()?,
        // The greatest number stands for one less: no list is that long.
        size: input.arbitrary::<Option<u64>>()?.map(|size| size.min(u64::MAX - 1)),
        epoch: input.arbitrary()?,
        set: if input.arbitrary()? { Some(set(input)?) } else { None },
    }))
}
