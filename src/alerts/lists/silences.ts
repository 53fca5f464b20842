import { silenceAttributes } from '../../contract/list-attributes.ts';
import type { Silence } from '../../contract/resources/silence.ts';
import { ruleSources } from '../../contract/vocabulary.ts';
import { attributeList } from '../../database/lists/attributes.ts';
import { anyCase, members, someOf } from '../../database/lists/filter.ts';
import type { ListSpec } from '../../database/lists/list.ts';

/** Definition of the list of silences. `from` and `to` bound `created_at`. */
export const silenceList: ListSpec<Silence> = attributeList(silenceAttributes, {
  type: 'silence',
  terms: {
    rule_id: members((silence) => silence.matcher.rule_id),
    rule_source: someOf(ruleSources, (silence) => silence.matcher.rule_source),
    category: members((silence) => silence.matcher.category),
    domain: anyCase(members((silence) => silence.matcher.domain)),
    asset_id: members((silence) => silence.matcher.asset_id),
  },
  time: (silence) => silence.created_at,
  names: ({ reason, owner, matcher }) => [
    reason,
    owner,
    ...(matcher.rule_id ?? []),
    ...(matcher.category ?? []),
    ...(matcher.src_ip ?? []),
    ...(matcher.dst_ip ?? []),
    ...(matcher.ip ?? []),
    ...(matcher.domain ?? []),
  ],
});
