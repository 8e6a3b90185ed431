//! Stop words: words that are so common in a language that they do not distinguish texts.
//!
//! Ranking ignores them, because of speed and size and because queries may be whole sentences, but phrases match them.
//! The lists are without accents, since words are looked up in their folded form.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::folded;

/// The languages of each stop word as a bit set: bit `n` is the list with index `n`. One lookup finds all languages,
/// which makes the detection of the language of a text fast.
static LANGUAGES_OF: LazyLock<HashMap<&str, u32>> = LazyLock::new(|| {
    let mut languages = HashMap::new();
    for (list, (_, words)) in LISTS.iter().enumerate() {
        for word in words.split_whitespace() {
            *languages.entry(word).or_default() |= 1 << list;
        }
    }
    languages
});

/// Upper bound of the bytes of a stop word.
const MAX_BYTES: usize = 20;

/// Returns whether a word, in lower case, is a stop word of one of the languages with these codes, such as `en`.
#[must_use]
pub fn is_stop_word(codes: &[&str], lower: &str) -> bool {
    languages_of(&folded(lower)).any(|language| codes.contains(&language))
}

/// Returns the stop words of all languages, in lower case and without accents, some of them several times.
pub fn stop_words() -> impl Iterator<Item = &'static str> {
    LISTS.iter().flat_map(|(_, words)| words.split_whitespace())
}

/// Returns true if `folded` is a stop word of the language with this code.
pub(crate) fn contains(code: &str, folded: &str) -> bool {
    languages_of(folded).any(|language| language == code)
}

/// Returns the codes of the languages in which `folded` is a stop word.
pub(crate) fn languages_of(folded: &str) -> impl Iterator<Item = &'static str> + use<> {
    let lists = if folded.len() > MAX_BYTES { None } else { LANGUAGES_OF.get(folded) };
    let lists = lists.copied().unwrap_or_default();
    LISTS.iter().enumerate().filter(move |&(list, _)| lists >> list & 1 == 1).map(|(_, (code, _))| *code)
}

/// Language codes and their stop words.
const LISTS: [(&str, &str); 10] = [
    (
        "en",
        "a about above after again against all am an and any are arent as at be because been before being below \
         between both but by can could did do does doing dont down during each few for from further had has have having \
         he her here hers him his how i if in into is isnt it its itself just me more most my no nor not of off \
         on once only or other our ours out over own same she should so some such than that the their theirs them \
         then there these they this those through to too under until up very was we were what when where which \
         while who whom why will with would you your yours",
    ),
    (
        "de",
        "aber alle allem allen aller alles als also am an auch auf aus bei bin bis bist da dadurch daher damit dann \
         das dass dein deine dem den der des dessen die dies diese diesem diesen dieser dieses doch dort du durch ein \
         eine einem einen einer eines er es euer fur hatte hatten hattest hattet hier hinter ich ihr ihre im in ist ja \
         jede jedem jeden jeder jedes jener jenes jetzt kann kannst konnen konnt machen mein meine mit muss mussen nach \
         nachdem nein nicht nun oder seid sein seine sich sie sind soll sollen sollst sonst soweit sowie uber um und \
         unser unsere unter vom von vor wann warum was weiter weitere wenn wer werde werden werdet weshalb wie wieder \
         wieso wir wird wirst wo woher wohin zu zum zur",
    ),
    (
        "fr",
        "a ai ainsi alors au aucun aussi autre aux avant avec avoir c ce ceci cela celle celles celui ces cet cette ceux \
         comme comment d dans de des donc dont du elle elles en encore entre es est et etaient etait ete etre eu fait \
         il ils j je l la le les leur leurs lui m ma mais me meme mes moi mon n ne ni nos notre nous on ont ou par \
         parce pas peu plus pour pourquoi qu quand que quel quelle quelles quels qui s sa sans se ses si son sont sur ta \
         te tes toi ton tous tout toute toutes tu un une vos votre vous y",
    ),
    (
        "es",
        "a al algo ante antes aquel aquella aqui asi aun aunque cada como con contra cual cuando de del desde donde dos \
         durante e el ella ellas ellos en entre era eran es esa esas ese eso esos esta estaba estan estar estas este \
         esto estos fue fueron ha han hasta hay la las le les lo los mas me mi mientras muy nada ni no nos nosotros o os \
         otra otro para pero poco por porque que quien se sea ser si sido sin sobre son su sus tambien te tiene tienen \
         todo todos tu tus un una uno unos y ya yo",
    ),
    (
        "it",
        "a ad ai al alla alle allo anche c che chi ci come con cui da dal dalla dalle dei del della delle dello di dove e \
         ed era erano essere fra gli ha hanno ho i il in io l la le lei li lo loro lui ma mi mia mio ne negli nei nel \
         nella nelle non noi nostro o ogni per perche piu quale quando quanto quella quelle quelli quello questa queste \
         questi questo se si sia sono sta su sua sue sugli sul sulla suo suoi tra tu tutti tutto un una uno vi voi",
    ),
    (
        "pt",
        "a ao aos as ate com como da das de dela dele deles depois do dos e ela elas ele eles em entre era eram essa esse \
         esta estao estar este eu foi foram ha isso isto ja lhe mais mas me mesmo meu minha muito na nao nas nem no nos \
         nossa nosso num numa o os ou para pela pelas pelo pelos por qual quando que quem sao se sem ser seu seus so \
         sua suas tambem te tem tinha um uma voce voces",
    ),
    (
        "nl",
        "aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen had \
         heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan kon kunnen maar me meer men met mij \
         mijn moet na naar niet niets nog nu of om omdat ons ook op over reeds te tegen toch toen tot u uit uw van veel \
         voor want waren was wat we wel werd wezen wie wij wil worden zal ze zelf zich zij zijn zo zonder zou",
    ),
    (
        "ru",
        "а без бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее если есть еще \
         же за здесь и из или им их к как какая какой ко когда кто ли либо мне может мы на надо наш не него нее нет ни \
         них но ну о об однако он она они оно от очень по под при с со так также такой там те тем то того тоже той \
         только том ты у уже хотя чего чей чем что чтобы чье чья эта эти это я",
    ),
    (
        "sv",
        "alla allt att av bara blev bli blir da de dem den denna deras dess dessa det detta dig din du dar eller en er \
         ett for fran ha hade han har hans hennes hon honom hur har i icke ingen inom inte jag ju kan kunde man med \
         mellan men mig min mot mycket ni nu nagon nagot nar och om oss pa samma sedan sig sin sitta sjalv skulle som sa \
         till under upp ut utan vad var vara vi vid vilken var at over",
    ),
    (
        "da",
        "ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter eller \
         en end er et for fra ham han hans har havde hende hendes her hos hun hvad hvis hvor i ikke ind jeg jer jo kunne \
         man mange med meget men mig min mine mit mod ned noget nogle nu nar og ogsa om op os over pa selv sig sin sine \
         sit skal skulle som sadan thi til ud under var vi vil ville vor vaere vaeret",
    ),
];
