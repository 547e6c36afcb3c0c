"""Arrays in large pages are arrays like all others."""

import numpy as np
import pytest

from thirtyone_env.pages import LARGE, PAGE, paged
from thirtyone_env.state import STATE


@pytest.mark.parametrize("make", [np.zeros, np.empty])
@pytest.mark.parametrize("rows", [0, 1, 31, 1497, 1498, 3001])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, STATE])
def test_an_array_in_large_pages_is_what_was_asked_for(make, rows, dtype):
    shape = rows, 7 if dtype is STATE else 700
    array = paged(shape, dtype, make)
    assert array.shape == shape
    assert array.dtype == dtype
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert array.flags.aligned
    assert array.nbytes < LARGE or array.ctypes.data % PAGE == 0
    assert make is np.empty or not array.view(np.uint8).any()
    array.view(np.uint8)[...] = 1
    assert array.view(np.uint8).all()
