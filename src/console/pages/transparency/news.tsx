import { useKeys } from '../../state/keys.ts';
import { Button } from '../../ui/button.tsx';
import { number } from '../../ui/format.ts';

/** What came while one read: shown when one asks for it, so that nothing moves under the eyes. */
export function News({ count, onShow }: { count: number; onShow: () => void }) {
  useKeys('News', {
    '.': { title: 'Show what is new', run: () => count > 0 && onShow() },
  });
  return (
    <span role="status">
      {count > 0 && (
        <Button hint="." onClick={onShow}>
          {number(count)} new
        </Button>
      )}
    </span>
  );
}
