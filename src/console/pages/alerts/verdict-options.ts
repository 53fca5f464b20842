import { verdicts } from '../../../contract/vocabulary.ts';
import { title } from '../../ui/format.ts';
import type { Alert } from './question.ts';

export type Verdict = NonNullable<Alert['verdict']>;

const meanings: Readonly<Record<Verdict, string>> = {
  true_positive: 'it is what the rule says, and bad',
  false_positive: 'the rule is mistaken',
  benign: 'it happened, and is allowed',
  suspicious: 'it may be bad, more is wanted',
  duplicate: 'another alert is about the same',
  test: 'somebody tried something',
  insufficient_data: 'cannot be told',
};

export const verdictOptions: readonly { value: Verdict; title: string; about: string }[] = verdicts.map(
  (value) => ({ value, title: title(value), about: meanings[value] }),
);
