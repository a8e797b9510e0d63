// SPDX-License-Identifier: MIT
#include "dwarf/index/forms.h"

#include <dwarf.h>

namespace blip::dwarf {

std::optional<uint32_t> fixed_size(const UnitHeader& unit, uint64_t form) {
  switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:  // with the abbreviation
      return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
      return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
      return 8;
    case DW_FORM_data16:
      return 16;
    case DW_FORM_addr:
      return unit.address_size;
    case DW_FORM_ref_addr:
      return unit.version == 2 ? unit.address_size : unit.offset_size;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
      return unit.offset_size;
    default:
      return std::nullopt;
  }
}

bool skip_form(Cursor& cursor, const UnitHeader& unit, uint64_t form) {
  if (const auto size = fixed_size(unit, form)) {
    cursor.skip(*size);
    return true;
  }
  switch (form) {
    case DW_FORM_string:
      cursor.text();
      return true;
    case DW_FORM_block1:
      cursor.skip(cursor.fixed(1));
      return true;
    case DW_FORM_block2:
      cursor.skip(cursor.fixed(2));
      return true;
    case DW_FORM_block4:
      cursor.skip(cursor.fixed(4));
      return true;
    case DW_FORM_block:
    case DW_FORM_exprloc:
      cursor.skip(cursor.uleb());
      return true;
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
      cursor.uleb();
      return true;
    default:
      return false;  // DW_FORM_indirect too, which nobody writes
  }
}

std::optional<uint64_t> read_reference(Cursor& cursor, const UnitHeader& unit, uint64_t form) {
  switch (form) {
    case DW_FORM_ref4:
      return unit.begin + cursor.word();
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref8:
      return unit.begin + cursor.fixed(*fixed_size(unit, form));
    case DW_FORM_ref_udata:
      return unit.begin + cursor.uleb();
    case DW_FORM_ref_addr:
      return cursor.fixed(*fixed_size(unit, form));
    default:
      skip_form(cursor, unit, form);
      return std::nullopt;
  }
}

bool leaves_unit(uint64_t form) {
  return form == DW_FORM_ref_addr || form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 ||
         form == DW_FORM_ref_sup8;
}

}  // namespace blip::dwarf
