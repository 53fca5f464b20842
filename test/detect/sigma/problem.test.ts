import { describe, expect, it } from 'vitest';
import { packRules, unpackRules } from '../../../src/detect/packed-rules.ts';
import { correlationLimits } from '../../../src/detect/sigma/correlation/correlation-limits.ts';
import { parseSigma } from '../../../src/detect/sigma/parse-document.ts';
import { compileRules } from '../../../src/detect/sigma/rule-set.ts';

/**
 * Valid documents before the tested document, so that line numbers in the document and in the text differ.
 */
const before = `# Ours
title: Port 4444
id: 545a5da6-f103-4919-a519-e9aec1026ee4
name: port
logsource: {category: firewall}
detection: {s: {dst_port: 4444}, condition: s}
---
title: Name
name: name
logsource: {category: dns}
detection: {s: {query: x}, condition: s}
---
title: Another name
name: other
logsource: {category: dns}
detection: {s: {query: y}, condition: s}
---
title: Not for us
name: refused
logsource: {product: cisco}
detection: {s: {a: b}, condition: s}
---
title: First of the name
name: twin
logsource: {category: dns}
detection: {s: {query: x}, condition: s}
---
title: Second of the name
id: 9c1d2f44-0b4e-4f0a-9d8e-3a5b6c7d8e9f
name: twin
logsource: {category: dns}
detection: {s: {query: x}, condition: s}
---
# what is looked at
`;

/**
 * Returns the problems of a document that is compiled after the valid documents, and the number of its marked
 * line.
 */
function refusalOf(document: string, after = '') {
  const text = `${before}${document}${after}`;
  const { documents, problems } = parseSigma(text);
  expect(problems).toEqual([]);
  // Each compiling thread receives the documents in this form.
  const { documents: sent } = unpackRules(packRules({ documents, placeholders: new Map() }));
  const { refused } = compileRules(sent);
  const line = text.split('\n').findIndex((one) => one.includes('# here')) + 1;
  const first = parseSigma(before).documents.length;
  return { line, problems: refused.find((one) => one.document === sent[first])?.problems };
}

const correlation = (more: string) => `title: Both
description: >-
  Of two lines
correlation:
  type: temporal
  timespan: 1m
${more}`;
const sound = correlation('  rules: [name, other]\n  group-by: [src_ip]\n');

describe('errors of a compiled document name the line of its field', () => {
  it.each([
    [
      'status',
      /cannot be used/,
      `title: R
status: unsupported # here
logsource: {category: dns}
detection: {s: {query: z}, condition: s}
`,
    ],
    [
      'logsource',
      /'windows'/,
      `title: R
detection: {s: {query: z}, condition: s}
logsource: # here
  product: windows
`,
    ],
    [
      'detection',
      /needs 'Image'/,
      `title: R
logsource: {category: dns}
detection: # here
  s: {Image: z}
  condition: s
`,
    ],
    [
      'detection.s.query|expand',
      /the placeholder '%nobody%'/,
      `title: R
logsource: {category: dns}
detection:
  s:
    - src_ip: 10.0.0.1
    - query|expand: # here
        - '%nobody%'
  condition: s
`,
    ],
    [
      'id',
      /earlier rule/,
      `title: R
id: 545a5da6-f103-4919-a519-e9aec1026ee4 # here
logsource: {category: dns}
detection: {s: {query: z}, condition: s}
`,
    ],
    [
      'name',
      /earlier rule/,
      `title: R
name: name # here
logsource: {category: dns}
detection: {s: {query: z}, condition: s}
`,
    ],
    [
      'title',
      /earlier rule/,
      `logsource: {category: dns}
detection: {s: {query: z}, condition: s}
title: other # here
`,
    ],
  ])('%s: %s', (field, reason, document) => {
    const { line, problems } = refusalOf(document);
    expect(problems).toEqual([{ line, field, reason: expect.stringMatching(reason) }]);
  });

  describe('in a filter:', () => {
    it.each([
      [
        'filter.rules',
        /does not name an existing rule/,
        `title: F
logsource: {category: dns}
filter:
  s: {src_ip: 10.0.0.1}
  rules: # here
    - nobody
  condition: s
`,
      ],
      [
        'logsource',
        /any of its rules/,
        `title: F
filter:
  s: {src_ip: 10.0.0.1}
  rules: [port]
  condition: s
logsource: # here
  category: dns
`,
      ],
      [
        'filter.s.src_ip|expand',
        /the placeholder '%nobody%'/,
        `title: F
logsource: {category: dns}
filter:
  rules: any
  s:
    src_ip|expand: '%nobody%' # here
  condition: s
`,
      ],
    ])('%s: %s', (field, reason, document) => {
      const { line, problems } = refusalOf(document);
      expect(problems).toEqual([{ line, field, reason: expect.stringMatching(reason) }]);
    });
  });

  describe('in a correlation:', () => {
    const rules = (list: string) => correlation(`  group-by: [src_ip]\n  rules:\n${list}`);
    const condition = (text: string) =>
      sound +
      `  condition:
    ${text} # here
`.replace('condition:\n    ', 'condition: ');
    it.each([
      ['rules[1]', /names 'nobody', which is not the id or name of a rule/, rules('    - name\n    - nobody # here\n')],
      ['rules[0]', /'twin' is not unique: 2 rules have this id or name/, rules('    - twin # here\n    - name\n')],
      ['rules[1]', /^'refused' does not run: .*'cisco'/, rules('    - name\n    - refused # here\n')],
      ['rules[1]', /already in the list/, rules('    - port\n    - 545a5da6-f103-4919-a519-e9aec1026ee4 # here\n')],
      ['rules[1]', /^names itself: 'self' → 'self'$/, `${rules('    - name\n    - self # here\n')}name: self\n`],
      ['rules[0]', /which is not the id or name of a rule/, correlation('  group-by: []\n  rules: [nobody] # here\n')],
      ['condition', /'port' is not a rule/, condition('name and port')],
      ['condition', /can never be met/, condition('name and not name')],
      ['condition', /cannot be detected/, condition('not name')],
      [
        'aliases.who.port',
        /'port' is not a rule/,
        `${sound}  aliases:
    who:
      name: src_ip
      port: src_ip # here
`,
      ],
      [
        'group-by[1]',
        /needs 'Computer', which no record of the rule 'Name' has/,
        correlation('  rules: [name]\n  group-by:\n    - src_ip\n    - Computer # here\n'),
      ],
      [
        'condition.field',
        /needs 'Computer'/,
        correlation(
          '  rules: [name]\n  group-by: [src_ip]\n  condition:\n    gte: 2\n    field: Computer # here\n',
        ).replace('temporal', 'value_count'),
      ],
      [
        'condition.field[1]',
        /needs 'Computer'/,
        correlation(
          '  rules: [name]\n  group-by: []\n  condition:\n    gte: 2\n    field:\n      - query\n      - Computer # here\n',
        ).replace('temporal', 'value_count'),
      ],
      [
        'aliases.who.name',
        /needs 'Computer'/,
        correlation('  rules: [name]\n  group-by: [who]\n  aliases:\n    who:\n      name: Computer # here\n'),
      ],
    ])('%s: %s', (field, reason, document) => {
      const { line, problems } = refusalOf(document);
      expect(problems).toEqual([{ line, field: `correlation.${field}`, reason: expect.stringMatching(reason) }]);
    });

    it('in a cycle of several correlations, each correlation names the reference that leads back to itself', () => {
      const next = (name: string, more: string) =>
        `---\ntitle: ${name}\nname: ${name}\ncorrelation: {type: temporal, timespan: 1m, group-by: [], rules: [${more}]}\n`;
      const { line, problems } = refusalOf(
        `${rules('    - name\n    - two # here\n')}name: one\n`,
        next('two', 'three') + next('three', 'one'),
      );
      const reason = "names itself: 'one' → 'two' → 'three' → 'one'";
      expect(problems).toEqual([{ line, field: 'correlation.rules[1]', reason }]);
    });

    it('with too many levels, the errors name the line of the rules', () => {
      const inner = Array.from(
        { length: correlationLimits.depth },
        (_, n) =>
          `---\ntitle: Level ${n}\nname: level_${n}\ncorrelation: {type: temporal, timespan: 1m, group-by: [], rules: [${n === 0 ? 'name' : `level_${n - 1}`}]}\n`,
      );
      const { line, problems } = refusalOf(
        correlation(`  group-by: []\n  rules: # here\n    - level_${inner.length - 1}\n`),
        inner.join(''),
      );
      expect(problems).toEqual([{ line, field: 'correlation.rules', reason: expect.stringMatching(/more than/) }]);
    });

    it('with the title of an earlier correlation, the errors name the line of the title', () => {
      const { documents } = parseSigma(`${sound}---\n${sound}`);
      const rest = parseSigma(before).documents;
      const [refused] = compileRules([...rest, ...documents]).refused.slice(-1);
      expect(refused!.document).toBe(documents[1]);
      const line = sound.split('\n').length + 1;
      expect(refused!.problems).toEqual([{ line, field: 'title', reason: expect.stringMatching(/'Both'/) }]);
    });
  });
});

it('values from a rule are shown truncated in every error', () => {
  const long = 'x'.repeat(200);
  const cut = `'${'x'.repeat(60)}…'`;
  for (const document of [
    correlation(`  group-by: []\n  rules: [${long}]\n`),
    `${sound}  condition: name and ${long}\n`,
    `${sound}  aliases: {who: {${long}: src_ip}}\n`,
  ])
    expect(refusalOf(document).problems).toMatchObject([{ reason: expect.stringContaining(cut) }]);
});

it('a document keeps line numbers only for fields that errors name', () => {
  const [rule] = parseSigma(`title: R
custom: {a: 1}
logsource:
  category: dns
detection:
  s: {query: z}
  condition: s
tags: [a.b, c.d]
`).documents;
  expect(rule!.lines).toEqual(
    new Map([
      ['title', 1],
      ['logsource', 3],
      ['detection', 5],
    ]),
  );
});
