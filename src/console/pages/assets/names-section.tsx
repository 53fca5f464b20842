import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { Section } from '../../ui/detail.tsx';
import { counted } from '../../ui/format.ts';
import { Answered } from '../../ui/states.tsx';
import { Value } from '../../ui/values.tsx';
import { CountedValues } from './counted-values.tsx';
import type { AssetRow } from './question.ts';
import { shownWindow, windowStart } from './window.tsx';

const shownNames = 8;

/** The domains that the asset looks up most. */
export function QueriedDomains({ asset: { id } }: { asset: AssetRow }) {
  const window = shownWindow();
  const answer = useAnswer('getDnsEventValues', {
    query: {
      by: 'registered_domain',
      src_asset_id: [id],
      from: windowStart(window),
      limit: shownNames,
    } as never,
  });
  return (
    <Section title="Queried domains">
      <Answered of={answer} rows={3}>
        {({ data: { attributes } }) =>
          attributes.values.length === 0 ? (
            <p class="quiet">No DNS queries in this range.</p>
          ) : (
            <>
              <CountedValues values={attributes.values} shown={(value) => <Value value={value} pivot="domain" />} />
              <p class="row">
                <a
                  href={href('events', {
                    table: 'dns',
                    range: window === '24h' ? undefined : window,
                    src_asset_id: id,
                  })}
                >
                  Show all queries
                </a>
                <span class="quiet">{counted(attributes.distinct, 'domain')}</span>
              </p>
            </>
          )
        }
      </Answered>
    </Section>
  );
}
