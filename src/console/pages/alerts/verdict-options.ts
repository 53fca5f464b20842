import { verdicts } from '../../../contract/vocabulary.ts';
import { title } from '../../ui/format.ts';
import type { Alert } from './question.ts';

export type Verdict = NonNullable<Alert['verdict']>;

const meanings: Readonly<Record<Verdict, string>> = {
  true_positive: 'confirmed malicious',
  false_positive: 'the rule fired by mistake',
  benign: 'real, but expected or allowed',
  suspicious: 'needs further investigation',
  duplicate: 'covered by another alert',
  test: 'authorised test',
  insufficient_data: 'not enough evidence to decide',
};

export const verdictOptions: readonly { value: Verdict; title: string; about: string }[] = verdicts.map((value) => ({
  value,
  title: title(value),
  about: meanings[value],
}));
