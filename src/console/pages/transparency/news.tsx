import { useKeys } from '../../state/keys.ts';
import { Button } from '../../ui/button.tsx';
import { number } from '../../ui/format.ts';

/**
 * Button to load new rows. New rows are not inserted automatically, so that rows do not move while the user reads them.
 */
export function NewItemsButton({ count, onShow }: { count: number; onShow: () => void }) {
  useKeys('New items', {
    '.': { title: 'Load new', run: () => count > 0 && onShow() },
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
