import { readFileSync } from 'node:fs';

/** English words of technical prose. */
export const words: readonly string[] = list(readFileSync(new URL('words.txt', import.meta.url), 'utf8'));

export const givenNames = list(`
  adam alice amelia andrea anna anton arthur barbara bella ben bernard carla carlos caroline charles chris clara daniel
  david diana dieter dimitri edward elena elias elisabeth emily emma eric eva felix fiona francesca frank frederick
  george gloria grace gustav hannah harald harry helena henry hugo ian ibrahim ines ingrid isabel ivan jack james jan
  jasmine javier jean jennifer jessica joan johann john jonas jorge joseph julia karen karl kate kevin lara lars laura
  leon liam linda lisa louis lucas lucy luigi maria mark martin mary matthew max maya michael mohammed monica natalie
  nicholas nina noah nora oliver olga oscar pablo patricia paul peter philip rachel rebecca richard robert roman rosa
  ruth samuel sandra sara simon sofia stefan stephanie steven susan sven theo thomas tim tina tom valentina vera victor
  viktoria walter wendy william yusuf zoe`);

export const surnames = list(`
  abbott adler allen andersson archer bailey baker barnes bauer becker bennett berg bernhard bishop black blake brooks
  brown bryant burke butler campbell carlson carter chapman clark cohen cole collins cooper costa cox craig cruz davies
  dawson dixon dubois duncan edwards eriksson evans farmer ferrari fischer fisher fleming ford foster fox franklin
  garcia gibson gomez gonzalez gordon graham grant green griffin gupta hall hansen harris hart hayes henderson hill
  hoffmann holmes horvath hughes hunt jackson jansen jenkins jensen johnson jones keller kelly kennedy khan kim king
  klein knight kowalski kumar lambert larsen lawrence lee lewis lopez marshall martinez mason meyer miller mills mitchell
  moore moreau morgan morris mueller murphy murray nelson newton nguyen nielsen novak olsen owens palmer parker patel
  pearson perez peters peterson phillips porter powell price reed reynolds richter rivera roberts robinson rogers rossi
  russell sanchez sanders schmidt schneider schulz scott shaw silva simpson singh smith stevens stewart stone sullivan
  svensson tanaka taylor thompson tucker turner vogel wagner walker wallace walsh ward watson weber wells west white
  williams wilson wood wright yamamoto young zhang zimmermann`);

export const cities = list(`
  aachen adelaide amsterdam ankara antwerp athens atlanta auckland austin baltimore bangkok barcelona basel beijing
  belfast belgrade berlin bilbao bogota bologna bombay bordeaux boston bremen brisbane bristol brussels budapest cairo
  calgary cambridge canberra cardiff chicago cleveland cologne copenhagen cordoba dallas damascus delhi denver detroit
  dortmund dresden dublin edinburgh florence frankfurt geneva genoa glasgow goteborg granada graz hamburg hannover
  havana helsinki houston istanbul jakarta kansas karachi kiev kobe krakow kyoto lagos leeds leipzig lille lima lisbon
  liverpool ljubljana lodz london lucerne lyon madrid malaga malmo manchester manila marseille melbourne memphis mexico
  miami milan minneapolis montreal moscow mumbai munich nairobi nantes naples nashville newcastle nottingham oakland
  odessa orlando osaka oslo ottawa oxford palermo paris perth philadelphia phoenix pittsburgh porto portland prague
  quebec reykjavik riga rome rotterdam salzburg santiago sapporo sarajevo seattle seoul seville shanghai singapore sofia
  stockholm strasbourg stuttgart sydney taipei tallinn tampa tehran tokyo toronto toulouse trieste turin utrecht valencia
  vancouver venice verona vienna vilnius warsaw washington wellington winnipeg yokohama zagreb zurich`);

/** Beginnings and endings of names of companies, shops and services. */
export const openings = list(`
  all auto best big bio blue buy check clean cloud cyber data digi direct eco easy euro ever first flex free fresh
  future get global gold go green grand great happy home hyper info inter just kids live local long mega meta micro mini
  mobile multi my neo net new next north nova old one online open our park peak pixel play power premium prime pro pure
  quick real red royal safe shop silver smart snap social solar south star sun super sure tech the top total trans tri true
  trust uni urban via vital web wild wise wonder world your zen`);

export const endings = list(`
  academy agency air app art auto bank base bay beauty bet bike bit blog board book boost box brand bus buzz cafe camp
  capital car card care cast center chat check city class clean click clinic cloud club coach code coin com connect
  control core corp craft data deal deals dental depot design desk direct doc drive edge energy engine events express fab
  face farm fashion fast film finance finder fit flix flow fly food force forum foto fund fy gallery game games garden
  gate gear gift gmbh go gold golf group guide guru hair haus health heaven hero hire home host hotel hotels house hub
  ify inc info ing insurance invest jobs kids kit lab labs land law learn legal life light line link lines live loan logic
  ly mag mail maker mall map maps market mart master mate media med mind mobile money motors music network news now office
  online outlet page park parts party pay pets phone photo pix place plan planet play plus point port portal post power
  press print pro radio rank rent repair report review ride room sale school science search secure server service services
  shop site sky smart soft software solutions space sport sports spot stack star station store storage stream street
  studio style supply support switch system systems talk tax team tech tel temple tickets time tips tools top tour tours
  toys track trade trading trail train travel trip trust tube tv union up vape video view village vision voice wall ware
  watch wave way wear weather web wiki wine wire wise wood work works world yard yoga zone`);

/** Abbreviations in technical names, as providers write them. */
export const shortenings = list(`
  ads ajax akam api apps aws bbs bcdn cdn cfg cloud cms cnt conn crl css ctl dev dns doc edge ext fb fs gcp gfx gov gw
  hd hls http img inc intl io ip iq js jpg lab lb ldap lst ltd mgmt mkt mkts ms msg mta mtg mx net ns ntp ocsp ops org os pc
  pkg pix pki png prd prod pub px rtb rtc sdk smtp sql src ssl sso stat static std stg svc sys tag tls tmp trk ts tv uk
  uni ups url us usa usr vid vip vod vpn web ws www wx xml yt`);

/** Syllables of Chinese in pinyin: initials and finals. */
export const pinyin = {
  initials: list('b p m f d t n l g k h j q x zh ch sh r z c s y w'),
  finals: list('a o e i u ai ei ao ou an en ang eng ong ia ie iao iu ian in iang ing iong ua uo uai ui uan un uang'),
};

/** Syllables of Japanese in Latin letters. */
export const romaji = list(`
  a i u e o ka ki ku ke ko sa shi su se so ta chi tsu te to na ni nu ne no ha hi fu he ho ma mi mu me mo ya yu yo ra ri
  ru re ro wa ga gi gu ge go za ji zu ze zo da de do ba bi bu be bo kyo sho chu n`);

/** Letters that do not decompose into a letter and a mark, with their usual spelling in domain names. */
const plain: Record<string, string> = {
  ı: 'i',
  ł: 'l',
  ø: 'o',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ə: 'a',
};

const training =
  'af az bs ca cs cy da de en es et eu fil fr fy ga gl hr hu id is it lb lt lv ms mt nb ro sk sl sq sv sw uz vi';
/** Languages that the model is not trained on, except for words that they share with others. */
const heldOut = 'fi nl pl pt tr';

/** Words of many languages: names of countries, languages and currencies from the runtime's CLDR data. */
export const foreign = {
  training: wordsOf(training.split(' ')),
  heldOut: wordsOf(heldOut.split(' ')),
};

function wordsOf(locales: readonly string[]): readonly string[] {
  const pairs = Array.from({ length: 676 }, (_, i) => String.fromCharCode(97 + Math.floor(i / 26), 97 + (i % 26)));
  const codes = {
    region: pairs.map((pair) => pair.toUpperCase()),
    language: pairs,
    currency: Intl.supportedValuesOf('currency'),
  } as const;
  const found = new Set<string>();
  for (const locale of locales) {
    for (const type of ['region', 'language', 'currency'] as const) {
      const names = new Intl.DisplayNames(locale, { type, fallback: 'none' });
      for (const code of codes[type]) for (const word of latin(names.of(code) ?? '')) found.add(word);
    }
  }
  return [...found].filter((word) => word.length >= 4 && word.length <= 14).sort();
}

function latin(text: string): string[] {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z ]/g, (letter) => plain[letter] ?? ' ')
    .split(' ');
}

function list(text: string): string[] {
  return text.trim().split(/\s+/);
}
