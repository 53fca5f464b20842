import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Case, features, valuesOf } from '../../../../src/alerts/triage/local/features.ts';
import { answeredOf, changedMaterially, decadeOf, scoreOf } from '../../../../src/alerts/triage/local/figures.ts';
import { type Lesson, Model } from '../../../../src/alerts/triage/local/model.ts';
import { counted, noVerdicts, outcomeOf, type Tally, type Taught } from '../../../../src/alerts/triage/local/tally.ts';
import { verdictOf } from '../../../../src/alerts/triage/local/verdict.ts';
import { criticalities, ruleSources, severities } from '../../../../src/contract/vocabulary.ts';
import { about, alert } from './alerts.ts';

const taught: readonly Taught[] = ['true_positive', 'suspicious', 'benign', 'false_positive'];
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const anyTally: fc.Arbitrary<Tally> = fc
  .tuple(fc.nat(1000), fc.nat(1000), fc.nat(1000))
  .map(([wrong, harmless, mistaken]) => ({ wrong, harmless, mistaken: Math.min(mistaken, harmless) }));
const anyFigure = fc.oneof(fc.double(), fc.string(), fc.boolean(), fc.array(fc.double(), { maxLength: 3 }));

const anyCase: fc.Arbitrary<Case> = fc
  .record({
    severity: fc.constantFrom(...severities),
    rule_source: fc.constantFrom(...ruleSources),
    rule_id: fc.string(),
    category: fc.oneof(fc.string(), fc.constantFrom('Attempted scan', 'misc-activity')),
    confidence: fc.double({ min: 0, max: 1, noNaN: true }),
    count: fc.integer({ min: 1 }),
    dst_port: fc.integer({ min: 0, max: 65_535 }),
    tactics: fc.array(fc.constantFrom('TA0011', 'Lateral Movement', 'discovery', '')),
    evidence: fc.dictionary(fc.oneof(fc.constantFrom('score', 'answered'), fc.string()), anyFigure),
    home: fc.tuple(maybe(fc.boolean()), maybe(fc.boolean())),
    more: fc.record({
      flood: fc.boolean(),
      criticality: maybe(fc.constantFrom(...criticalities)),
      previous: maybe(fc.constantFrom(0, 0.75, 1)),
      rule: anyTally,
      source: anyTally,
      target: anyTally,
    }),
  })
  .map(({ tactics, home: [srcHome, dstHome], more, ...changes }) =>
    about({ ...changes, mitre: { tactics, techniques: [] } }, { srcHome, dstHome, ...more }),
  );
const anyLesson = fc.tuple(anyCase, fc.constantFrom(...taught));

/** Returns the points in a sentence, such as +1.23 or −0.40, in hundredths. */
const pointsIn = (text: string): number => {
  const [, sign, whole] = /([+−])(\d+\.\d\d)/.exec(text) ?? [];
  return Math.round(100 * Number(whole)) * (sign === '−' ? -1 : 1);
};

describe('a verdict', () => {
  test('has a confidence from 0 to 1, at most six reasons, and points whose sum is the score', () => {
    fc.assert(
      fc.property(fc.array(anyLesson, { maxLength: 20 }), anyCase, (lessons, one) => {
        const model = new Model();
        for (const [other, verdict] of lessons) model.learn(valuesOf(other), verdict);
        const judged = model.score(valuesOf(one));
        for (const p of [judged.pWrong, judged.pMistaken]) expect(p > 0 && p < 1).toBe(true);
        expect(judged.points.reduce((sum, points) => sum + points, 0)).toBeCloseTo(judged.score, 9);
        const { confidence, reasons } = verdictOf(judged, one);
        expect(confidence >= 0 && confidence <= 1).toBe(true);
        expect(reasons.length).toBeLessThanOrEqual(6);
        const parts = reasons.slice(0, -1).map(pointsIn);
        expect(parts.reduce((sum, points) => sum + points, 0)).toBe(pointsIn(reasons.at(-1)!));
        expect(pointsIn(reasons.at(-1)!)).toBeCloseTo(100 * judged.score, -0.5);
      }),
    );
  });

  const judgedOften: Tally = { wrong: 10, harmless: 10, mistaken: 5 };
  const cases: [string, Case, string][] = [
    ['a critical rule with full confidence', about({ severity: 'critical', confidence: 1 }), 'true_positive'],
    ['a high severity', about({ severity: 'high' }), 'suspicious'],
    [
      'an external scan',
      about({ severity: 'low', category: 'Port scan' }, { srcHome: false, dstHome: true }),
      'benign',
    ],
  ];
  test.for(cases)('requires five verdicts on the rule: %s', ([, one, verdict]) => {
    const of = (rule: Tally) => {
      const known = { ...one, rule };
      return verdictOf(new Model().score(valuesOf(known)), known);
    };
    expect(of(noVerdicts)).toMatchObject({ verdict: 'insufficient_data', confidence: 0 });
    const four = of({ wrong: 2, harmless: 2, mistaken: 1 });
    expect(four).toMatchObject({ verdict: 'insufficient_data', confidence: 0.16 });
    expect(four.reasons.at(-1)).toContain('a verdict needs 5 analyst verdicts on alerts of this rule, so far 4');
    expect(of(judgedOften).verdict).toBe(verdict);
  });

  test.for(['high', 'critical'] as const)('on an alert of %s severity is never harmless', (severity) => {
    const one = about({ severity }, { rule: { wrong: 0, harmless: 500, mistaken: 500 } });
    const { verdict, confidence, reasons } = verdictOf(new Model().score(valuesOf(one)), one);
    expect([verdict, confidence]).toEqual(['insufficient_data', 0.2]);
    expect(reasons.at(-1)).toContain(`alerts of ${severity} severity need an analyst`);
  });

  test('has reasons in plain sentences', () => {
    const one = about({ severity: 'high', mitre: { tactics: ['TA0011', 'exfiltration'], techniques: [] } });
    const { reasons } = verdictOf(new Model().score(valuesOf(one)), one);
    expect(reasons).toEqual([
      'Severity is high: +0.80.',
      'Post-compromise ATT&CK tactics (2): +0.80.',
      'Sum: +1.60, 83% likely malicious; a verdict needs 5 analyst verdicts on alerts of this rule, so far 0.',
    ]);
  });
});

describe('learning', () => {
  test('gives the next alert of a rule the same verdict and the reason, after 20 false positives', () => {
    const model = new Model();
    let rule = noVerdicts;
    const next = () => about({ severity: 'medium' }, { rule });
    for (let n = 0; n < 20; n++) {
      model.learn(valuesOf(next()), 'false_positive');
      rule = counted(rule, 'false_positive', 1);
    }
    const { verdict, confidence, reasons } = verdictOf(model.score(valuesOf(next())), next());
    expect(verdict).toBe('false_positive');
    expect(confidence).toBeGreaterThan(0.8);
    expect(reasons[0]).toMatch(/^Analysts found 20 of 20 alerts of this rule harmless: −\d/);
  });

  test('does not affect a rule without verdicts', () => {
    fc.assert(
      fc.property(fc.array(anyLesson, { maxLength: 20 }), anyCase, (lessons, one) => {
        const model = new Model();
        for (const [other, verdict] of lessons) model.learn(valuesOf(other), verdict);
        const unjudged = valuesOf({ ...one, rule: noVerdicts, source: noVerdicts, target: noVerdicts });
        expect(model.score(unjudged)).toEqual(new Model().score(unjudged));
      }),
    );
  });

  test('from true positives raises the score of a low-severity rule', () => {
    const model = new Model();
    let rule = noVerdicts;
    for (let n = 0; n < 10; n++) {
      model.learn(valuesOf(about({ severity: 'low' }, { rule })), 'true_positive');
      rule = counted(rule, 'true_positive', 1);
    }
    const next = about({ severity: 'low' }, { rule });
    expect(['true_positive', 'suspicious']).toContain(verdictOf(model.score(valuesOf(next)), next).verdict);
  });

  test('is undone by unlearning, in any order', () => {
    fc.assert(
      fc.property(fc.array(anyLesson, { minLength: 1, maxLength: 12 }), fc.infiniteStream(fc.nat()), (given, order) => {
        const model = new Model();
        const lessons: Lesson[] = given.map(([one, verdict]) => model.learn(valuesOf(one), verdict));
        while (lessons.length > 0) {
          const at = (order.next().value as number) % lessons.length;
          model.unlearn(lessons.splice(at, 1)[0]!);
        }
        for (const { wrong, mistaken, mass } of model.learned())
          for (const left of [wrong, mistaken, mass]) expect(left).toBeCloseTo(0, 9);
      }),
    );
  });

  test('from the same alert a thousand times equals learning from it once', () => {
    const one = valuesOf(about({ severity: 'high' }));
    const once = new Model();
    once.learn(one, 'false_positive');
    const often = new Model();
    let lesson = often.learn(one, 'true_positive');
    for (let n = 0; n < 1000; n++) {
      often.unlearn(lesson);
      lesson = often.learn(one, n % 2 === 0 ? 'benign' : 'false_positive');
    }
    expect(often.score(one).score).toBeCloseTo(once.score(one).score, 9);
  });

  test('is bounded: no number of verdicts moves a weight beyond its limit', () => {
    const model = new Model();
    const one = valuesOf(about({ severity: 'critical', confidence: 1 }));
    for (let n = 0; n < 5000; n++) model.learn(one, 'false_positive');
    for (const [i, { wrong, mistaken }] of features.entries()) {
      expect(Math.abs(model.weight(i, 'wrong') - wrong)).toBeLessThanOrEqual(3);
      expect(Math.abs(model.weight(i, 'mistaken') - mistaken)).toBeLessThanOrEqual(3);
    }
  });

  test('continues from stored weights as if not interrupted', () => {
    fc.assert(
      fc.property(fc.array(anyLesson, { minLength: 2, maxLength: 10 }), (given) => {
        const through = new Model();
        let resumed = new Model();
        for (const [one, verdict] of given) {
          through.learn(valuesOf(one), verdict);
          resumed.learn(valuesOf(one), verdict);
          resumed = new Model(structuredClone(resumed.learned()));
        }
        expect(resumed.learned()).toEqual(through.learned());
      }),
    );
  });
});

test('feature values are from −1 to 1 for any evidence', () => {
  fc.assert(
    fc.property(anyCase, (one) => {
      for (const value of valuesOf(one)) expect(value >= -1 && value <= 1).toBe(true);
    }),
  );
  expect(scoreOf({ score: Number.NaN })).toBeUndefined();
  expect(scoreOf({ score: 17 })).toBeUndefined();
  expect(answeredOf({ answered: 0 })).toBe(-1);
  expect(answeredOf({ answered: 'yes' })).toBeUndefined();
});

describe('an alert is triaged again', () => {
  test.for<[string, object, boolean]>([
    ['when its severity rises', { severity: 'high' }, true],
    ['when its status changes', { status: 'in_progress' }, true],
    ['when a tenth occurrence arrives', { count: 10 }, true],
    ['when the destination answers', { evidence: { answered: true } }, true],
    ['when its score changes', { evidence: { score: 0.9 } }, true],
    ['not with every occurrence', { count: 9 }, false],
    ['not with other evidence', { evidence: { ports: 7 } }, false],
    ['not for assignee, notes or tags', { assignee: 'ana', note_count: 3, tags: ['x'] }, false],
    ['not when an analyst sets a verdict', { verdict: 'benign', status: 'resolved' }, false],
  ])('%s', ([, changes, due]) => {
    expect(changedMaterially(alert(), alert(changes))).toBe(due);
  });
});

test('counts of occurrences are reduced to their power of ten', () => {
  expect([1, 9, 10, 99, 100, 999, 1000, 10_000, 999_999, 1_000_000].map(decadeOf)).toEqual([
    0, 0, 1, 1, 2, 2, 3, 4, 5, 6,
  ]);
});

test("the model's verdict compared with the analyst's verdict is exact, on the same side, opposite or abstained", () => {
  expect(outcomeOf('benign', 'benign')).toBe('exact');
  expect(outcomeOf('suspicious', 'true_positive')).toBe('same_side');
  expect(outcomeOf('benign', 'suspicious')).toBe('opposite');
  expect(outcomeOf('insufficient_data', 'benign')).toBe('abstained');
});
