import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { XmlError, XmlReader } from '../../src/discovery/xml.ts';

type Event = [string, Record<string, string>] | [string];

function read(pieces: readonly string[]): Event[] {
  const events: Event[] = [];
  const reader = new XmlReader({
    open: (name, attributes) => events.push([name, { ...attributes }]),
    close: (name) => events.push([`/${name}`]),
  });
  for (const piece of pieces) reader.push(piece);
  reader.end();
  return events;
}

const document = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE nmaprun>
<?xml-stylesheet href="file:///usr/share/nmap/nmap.xsl" type="text/xsl"?>
<!-- Nmap 7.94 scan -->
<a b="1 > 2" c='say "hi"'>text<![CDATA[<no>]]>
  <d e="&lt;&amp;&gt;&quot;&apos;&#65;&#x42;"/><f
    g = "h" ></f >
</a>
`;
const wanted: Event[] = [
  ['a', { b: '1 > 2', c: 'say "hi"' }],
  ['d', { e: `<&>"'AB` }],
  ['/d'],
  ['f', { g: 'h' }],
  ['/f'],
  ['/a'],
];

test('elements and attributes are returned', () => {
  expect(read([document])).toEqual(wanted);
});

test('chunks of any size give the same events', () => {
  expect(read([...document])).toEqual(wanted);
  fc.assert(
    fc.property(fc.array(fc.nat(document.length), { maxLength: 8 }), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), document.length];
      expect(read(places.slice(1).map((end, n) => document.slice(places[n], end)))).toEqual(wanted);
    }),
  );
});

test('references to control characters, which nmap writes for bytes of a banner, are accepted', () => {
  expect(read(['<a b="&#x1;&#x1b;"/>'])[0]).toEqual(['a', { b: '\u0001\u001b' }]);
});

describe('invalid input', () => {
  test.each([
    ['<!DOCTYPE a [<!ENTITY x "y">]><a/>'],
    ['<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a b="&x;"/>'],
    ['<!ENTITY x "y"><a/>'],
    ['<a b="&x;"/>'],
    ['<a b="&lt"/>'],
    ['<a b="&#0;"/>'],
    ['<a b="&#xd800;"/>'],
    ['<a b="&#x110000;"/>'],
    ['<a b="<"/>'],
    ['<a b=1/>'],
    ['<a b/>'],
    ['<a b="1"c="2"/>'],
    ['<a b="1" b="2"/>'],
    ['<a></b>'],
    ['<a/><b/>'],
    ['</a>'],
    ['<a>'],
    ['<a'],
    ['<a b="'],
    ['text'],
    ['<a/>text'],
    [''],
    ['<1/>'],
    ['< a/>'],
    ['<a>'.repeat(100)],
    [`<a b="${'x'.repeat(300_000)}`],
  ])('is rejected: %.60j', (text) => {
    expect(() => read([text])).toThrow(XmlError);
  });

  test('any text results in events or an error', () => {
    const part = fc.constantFrom(
      '<',
      '>',
      '</',
      '/>',
      '<a',
      ' b="',
      '"',
      "'",
      '&',
      ';',
      '<!--',
      '-->',
      '<?',
      '?>',
      '<![CDATA[',
      ']]>',
      '<!DOCTYPE ',
      'x',
      '=',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        try {
          read(parts);
        } catch (error) {
          expect(error).toBeInstanceOf(XmlError);
        }
      }),
    );
  });
});
