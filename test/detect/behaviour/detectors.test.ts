import { expect, test } from 'vitest';
import { detectorIds } from '../../../src/contract/vocabulary.ts';
import { newDetectors } from '../../../src/detect/behaviour/detectors.ts';

test('each enabled detector is listed under its own id', () => {
  expect(newDetectors().map(({ card }) => card.id)).toEqual([...detectorIds]);
  expect(newDetectors(['beaconing']).map(({ card }) => card.id)).toEqual(
    detectorIds.filter((id) => id !== 'beaconing'),
  );
});

test('each detector names ATT&CK tactics and techniques by their ids', () => {
  for (const { card } of newDetectors()) {
    expect([card.id, card.mitre.tactics.length > 0, card.mitre.techniques.length > 0]).toEqual([card.id, true, true]);
    for (const tactic of card.mitre.tactics)
      expect([card.id, tactic]).toEqual([card.id, expect.stringMatching(/^TA00\d\d$/)]);
    for (const technique of card.mitre.techniques)
      expect([card.id, technique]).toEqual([card.id, expect.stringMatching(/^T\d{4}(\.\d{3})?$/)]);
  }
});
