import { useAnswer } from '../../../state/answers.ts';
import { may, me } from '../../../state/session.ts';
import { abbreviated } from '../../../ui/format.ts';

/** Number of principals fetched in one request to look up names. */
const known = 1000;

/** Shows a principal's name if known, else its ID. */
export function PrincipalName({ id }: { id: string }) {
  const all = useAnswer(
    'listPrincipals',
    { query: { per_page: known } },
    { enabled: may('listPrincipals') && id !== me.value?.id, still: true },
  );
  const name = id === me.value?.id ? me.value.name : all.data?.data.find((one) => one.id === id)?.attributes.name;
  return <span title={id}>{name === undefined ? <span class="mono">{abbreviated(id)}</span> : <bdi>{name}</bdi>}</span>;
}
